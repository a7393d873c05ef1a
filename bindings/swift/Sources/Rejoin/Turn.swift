import RejoinBindings

/// A running turn: one answer the user waits for. Safe to use from any thread.
///
/// It belongs to whoever holds it: keep it where the answer shall survive the screen (a model
/// object). Its events hold it too. When nobody holds it any more, it is cancelled and its
/// connection closed.
public final class Turn: Sendable {
    let source: any TurnSource

    init(_ source: any TurnSource) { self.source = source }

    deinit { source.cancel() }

    /// The turn's id: the request's, or a random one.
    public var id: String { source.id }

    /// All events of the turn. As ``events(after:)`` from the start.
    public var events: TurnEvents { events(after: 0) }

    /// The events after the one with number `seq`; 0 for all of them.
    ///
    /// Cold, and consumes nothing: it may be iterated again and again, by several tasks at once. A
    /// task that was cancelled goes on from the `seq` it handled last and has lost nothing. The
    /// turn runs on when a reader goes away. Ends after the turn's last event. Throws
    /// `CancellationError` if the reading task is cancelled.
    public func events(after seq: Int64) -> TurnEvents {
        TurnEvents(batches: EventBatches(turn: self, after: seq))
    }

    /// The screen state of this turn, from its start: ``events`` through
    /// ``TurnEvents/transcript(_:)``.
    public func transcript(_ presentation: Presentation = .replace) -> Transcripts<EventBatches> {
        events.transcript(presentation)
    }

    /// Waits for the end of the turn. The turn runs on if the waiting task is cancelled.
    ///
    /// - Throws: ``RejoinError`` if the turn failed; `CancellationError` if the waiting task was
    ///   cancelled.
    public func answer() async throws -> Answer {
        try await source.waitUntilOver()
        if !source.isOver { try Task.checkCancellation() }
        switch try source.lastEvent()?.kind {
        case .completed(let answer): return answer
        case .failed(let failure): throw RejoinError(failure)
        default: throw RejoinError.broken
        }
    }

    /// Cancels the turn: its connection is closed, `.failed` with `.cancelled` is its last event,
    /// no request follows. Returns at once; does nothing if the turn is over.
    public func cancel() { source.cancel() }

    /// Passes on what the device says. Several signals within a second make one attempt. Returns at
    /// once.
    public func signal(_ signal: Signal) { source.signal(signal) }

    /// As `.networkChanged`, with what is known of the new network: it is told in the `detail` of
    /// what it breaks. Returns at once.
    public func networkChanged(metered: Bool) { source.networkChanged(metered: metered) }

    /// As `.willSuspend`; then waits until the turn is in the journal, if it has one: 250 ms at
    /// most, also where the waiting task is cancelled.
    public func willSuspend() async { await source.willSuspend() }

    /// The first thing that went wrong with this turn's journal, for people. The turn goes on all
    /// the same, and perhaps cannot be restored.
    public var journalProblem: String? { source.journalProblem }

    /// What a screen of this turn shows right now, so that a late reader needs no replay: read on
    /// with `events(after: snapshot.cursor)`. Costs a copy of the answer.
    ///
    /// - Throws: ``RejoinError`` of kind `.internal` for a bug of the library.
    public func snapshot() throws -> Snapshot { try source.snapshot() }

    /// The turn's drops and what followed each, a line of JSON each: store them, and let
    /// `rejoin advise` say where the threshold of the gate should be. No text and no key is in
    /// them. Empty while the turn runs.
    ///
    /// - Throws: ``RejoinError`` of kind `.internal` for a bug of the library.
    public func dropLog() throws -> [String] { try source.dropLog() }

    /// The turn's inputs as a text that `rejoin replay` plays again, if the request's `record`
    /// asked for it: write it to a file, and a bug report becomes a test. Nil while the turn runs.
    ///
    /// - Throws: ``RejoinError`` of kind `.internal` for a bug of the library.
    public func recording() throws -> String? { try source.recording() }
}

extension TurnEvent {
    /// True for the last event of a turn: nothing follows it.
    public var isLast: Bool {
        switch kind {
        case .completed, .failed: true
        default: false
        }
    }
}
