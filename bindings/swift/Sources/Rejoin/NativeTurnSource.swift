import RejoinBindings

/// A turn of the native library.
///
/// No caller awaits Rust itself. A task of this class does, one at a time for news and one for the
/// end, and wakes those who wait here, who can be cancelled at any moment. These tasks hold the
/// native turn, so they end with the turn and not with their readers: whoever owns the turn cancels
/// it (``Turn``).
final class NativeTurnSource: TurnSource {
    private struct State {
        /// The cursor behind which the running task waits for news.
        var waitingAfter: Int64?
        /// What the last such task found, and behind which cursor.
        var news: (after: Int64, batch: EventBatch)?
        var watchesEnd = false
        var over = false
    }

    let id: String
    let frame = screenFrame
    private let native: NativeTurn
    private let state = Locked(State())
    private let forNews = Waiters()
    private let forEnd = Waiters()

    init(_ native: NativeTurn) throws {
        self.native = native
        id = try translating { try native.turnId() }
    }

    var isOver: Bool { state.with { $0.over } }

    func soFar(after cursor: Int64) throws -> EventBatch {
        watchEnd()
        return try translating { try native.eventsSoFar(cursor: cursor, max: mostAtOnce) }
    }

    func next(after cursor: Int64) async throws -> EventBatch {
        watchEnd()
        watchNews(after: cursor)
        // Another reader's task may wait further on: then there is news for this one already.
        await forNews.wait { [state] in state.with { $0.waitingAfter.map { $0 <= cursor } ?? false }
        }
        if let news = state.with({ $0.news }), news.after == cursor { return news.batch }
        return try soFar(after: cursor)
    }

    func waitUntilOver() async throws {
        watchEnd()
        await forEnd.wait { [state] in state.with { !$0.over } }
    }

    func lastEvent() throws -> TurnEvent? {
        try translating { try native.snapshot().lastEvent }
    }

    func snapshot() throws -> Snapshot { try translating { try native.snapshot() } }

    func dropLog() throws -> [String] { try translating { try native.dropLog() } }

    func recording() throws -> String? { try translating { try native.recording() } }

    // The generated calls can throw only for a bug of the library; freeing the turn cancels it as
    // well.
    func cancel() { try? native.cancel() }

    func signal(_ signal: Signal) { try? native.signal(signal: signal) }

    func networkChanged(metered: Bool) { try? native.networkChanged(metered: metered) }

    func willSuspend() async { try? await native.willSuspend() }

    var journalProblem: String? { (try? native.journalProblem()) ?? nil }

    private func watchNews(after cursor: Int64) {
        let starts = state.with { state in
            guard state.waitingAfter == nil else { return false }
            state.waitingAfter = cursor
            state.news = nil
            return true
        }
        guard starts else { return }
        Task { [native, state, forNews] in
            // What this throws, the reader's own call will throw again.
            let batch = try? await native.eventsAfter(cursor: cursor, max: mostAtOnce)
            state.with { state in
                state.waitingAfter = nil
                state.news = batch.map { (cursor, $0) }
            }
            forNews.wake()
        }
    }

    private func watchEnd() {
        let starts = state.with { state in
            defer { state.watchesEnd = true }
            return !state.watchesEnd
        }
        guard starts else { return }
        Task { [native, state, forEnd] in
            _ = try? await native.untilOver()
            state.with { $0.over = true }
            forEnd.wake()
        }
    }
}
