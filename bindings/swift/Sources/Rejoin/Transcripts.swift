import RejoinBindings

/// Screen states, one for each batch of events of `Base`. Made by `transcript(_:)`.
///
/// Throws what the events throw; cancellation is theirs.
public struct Transcripts<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element == [TurnEvent] {
    /// A screen state.
    public typealias Element = Transcript

    let base: Base
    let presentation: Presentation

    /// Begins to read the events.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), reducer: TranscriptReducer(presentation))
    }

    /// A place in the states.
    public struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        var reducer: TranscriptReducer

        /// The next state; nil after the one with the turn's last event.
        public mutating func next() async throws -> Transcript? {
            guard let events = try await base.next() else { return nil }
            for event in events { reducer.apply(event) }
            return reducer.current
        }
    }
}

extension AsyncSequence where Self: Sendable, Element == TurnEvent {
    /// The screen state after each event, for events that do not come straight from a client or a
    /// turn.
    public func transcript(_ presentation: Presentation = .replace) -> Transcripts<
        AsyncMapSequence<Self, [TurnEvent]>
    > {
        Transcripts(base: map { [$0] }, presentation: presentation)
    }
}
