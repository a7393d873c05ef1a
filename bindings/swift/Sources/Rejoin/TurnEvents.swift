import RejoinBindings

/// Events of a turn, one by one. Made by ``RejoinClient/stream(_:)`` and ``Turn/events(after:)``.
///
/// A slow reader slows nothing down but itself: the core goes on receiving, nothing is lost, and no
/// buffer is in between. The library is read at most once per display frame, without delaying the
/// first event or the last.
///
/// The sequence ends after `.completed` or `.failed`, which are values, not errors. It throws
/// `CancellationError` if the reading task is cancelled, and ``RejoinError`` for a request that
/// cannot be used or a bug of the library.
public struct TurnEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = TurnEvent

    /// The same events, all that came within a frame at a time: for renderers.
    public let batches: EventBatches

    /// Begins to read. For ``RejoinClient/stream(_:)`` this is a turn of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(batches: batches.makeAsyncIterator()) }

    /// The screen state after each frame, as one immutable value. Throws what the events throw.
    public func transcript(_ presentation: Presentation = .replace) -> Transcripts<EventBatches> {
        Transcripts(base: batches, presentation: presentation)
    }

    /// A place in the events.
    public struct Iterator: AsyncIteratorProtocol {
        var batches: EventBatches.Iterator
        var batch: [TurnEvent] = []
        var index = 0

        /// The next event; nil after the last one.
        public mutating func next() async throws -> TurnEvent? {
            if index < batch.count {
                // What has been read is dropped, not lost: the turn still has it.
                try batches.checkCancellation()
            } else {
                guard let more = try await batches.next() else { return nil }
                batch = more
                index = 0
            }
            defer { index += 1 }
            return batch[index]
        }
    }
}

/// Events of a turn, all that came within a display frame at a time. Never an empty batch.
public struct EventBatches: AsyncSequence, Sendable {
    /// Some events, in order.
    public typealias Element = [TurnEvent]

    enum Origin: Sendable {
        /// Each iterator starts a turn of its own, and ends it.
        case request(TurnRequest, RejoinClient)
        case turn(Turn, after: Int64)
    }

    let origin: Origin

    init(client: RejoinClient, request: TurnRequest) { origin = .request(request, client) }

    init(turn: Turn, after seq: Int64) { origin = .turn(turn, after: seq) }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(origin: origin) }

    /// A place in the events.
    public struct Iterator: AsyncIteratorProtocol {
        let origin: Origin
        private var turn: Turn?
        private var reader: PacedReader?

        init(origin: Origin) { self.origin = origin }

        /// The next events; nil after the last one.
        public mutating func next() async throws -> [TurnEvent]? {
            try checkCancellation()
            let turn = try started()
            guard ownsTurn else { return try await reader?.next() }
            // `Task.cancel` does not reach Rust: it is passed on.
            let events = try await withTaskCancellationHandler {
                try await reader?.next()
            } onCancel: {
                turn.cancel()
            }
            return events
        }

        private var ownsTurn: Bool {
            if case .request = origin { true } else { false }
        }

        func checkCancellation() throws {
            guard Task.isCancelled else { return }
            if ownsTurn { turn?.cancel() }
            throw CancellationError()
        }

        private mutating func started() throws -> Turn {
            if let turn { return turn }
            let (turn, cursor) =
                switch origin {
                case .request(let request, let client): (try client.start(request), Int64(0))
                case .turn(let turn, let after): (turn, after)
                }
            // Held from here: a turn that nobody holds is cancelled, so one that is left in
            // mid-loop ends too.
            self.turn = turn
            reader = PacedReader(source: turn.source, after: cursor)
            return turn
        }
    }
}
