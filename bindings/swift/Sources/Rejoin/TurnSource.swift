import RejoinBindings

/// What a turn is read from: the native library, or a fake. Reading consumes nothing.
protocol TurnSource: Sendable {
    var id: String { get }

    /// How far apart reads are, for a screen. The first event and the last are never held up by it.
    var frame: Duration { get }

    var isOver: Bool { get }

    /// The events after the cursor that are there already. Never waits.
    func soFar(after cursor: Int64) throws -> EventBatch

    /// The events after the cursor; waits until there is one or the turn is over. Comes back early,
    /// perhaps with none, if the task is cancelled.
    func next(after cursor: Int64) async throws -> EventBatch

    /// Returns when the turn is over or the task is cancelled.
    func waitUntilOver() async throws

    /// The turn's last event, once it is over.
    func lastEvent() throws -> TurnEvent?

    func snapshot() throws -> Snapshot
    func dropLog() throws -> [String]
    func recording() throws -> String?
    func signal(_ signal: Signal)
    func networkChanged(metered: Bool)
    func willSuspend() async
    var journalProblem: String? { get }
    func cancel()
}

extension TurnSource {
    func networkChanged(metered: Bool) { signal(.networkChanged) }
    func willSuspend() async { signal(.willSuspend) }
    var journalProblem: String? { nil }
}

extension TurnSource {
    /// Waits for a moment, but not past the end of the turn.
    func pause(_ duration: Duration) async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await Task.sleep(for: duration) }
            group.addTask { try? await waitUntilOver() }
            await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }
}

/// Bounds the memory of one read; a backlog longer than this takes several.
let mostAtOnce: Int32 = 4096

/// One frame of a screen with 60 Hz: more reads than that show nothing more.
let screenFrame: Duration = .nanoseconds(1_000_000_000 / 60)

/// So many empty frames in a row, and the stream counts as quiet.
private let quietFrames = 3

/// Reads a source at most once per frame, whatever the event rate.
///
/// While events flow, each frame costs one plain call, which never waits. Once they stop, one
/// waiting call stands until the next event, which is therefore never late; nor is the first one.
/// Nor is the last one: the pause until the next frame ends early when the turn is over.
struct PacedReader {
    let source: any TurnSource
    private(set) var cursor: Int64
    private var empty = quietFrames
    private var lastRead: ContinuousClock.Instant?
    private var finished = false

    init(source: any TurnSource, after cursor: Int64) {
        self.source = source
        self.cursor = cursor
    }

    /// The next events, never none; nil at the end of the turn. A read that is cancelled has
    /// consumed nothing.
    mutating func next() async throws -> [TurnEvent]? {
        while !finished {
            try Task.checkCancellation()
            if let lastRead, !source.isOver {
                let rest = source.frame - (.now - lastRead)
                if rest > .zero { try await source.pause(rest) }
            }
            let began = ContinuousClock.now
            let waits = empty >= quietFrames
            let batch =
                waits ? try await source.next(after: cursor) : try source.soFar(after: cursor)
            try Task.checkCancellation()
            empty = batch.events.isEmpty ? empty + 1 : 0
            // A read that waited begins its frame when it comes back. A backlog is read on at once.
            lastRead = batch.events.count == Int(mostAtOnce) ? nil : waits ? .now : began
            cursor = batch.nextCursor
            finished = batch.finished
            if finished, cursor == 0 || batch.events.last.map({ !$0.isLast }) == true {
                throw RejoinError.broken
            }
            if !batch.events.isEmpty { return batch.events }
        }
        return nil
    }
}
