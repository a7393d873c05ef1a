import Rejoin
import Testing

/// A clock for tests of apps: pauses take no time, and are counted.
final class InstantClock: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        var offset: Swift.Duration
        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private let time = Box<Swift.Duration>(.zero)
    var now: Instant { Instant(offset: time.value) }
    var minimumResolution: Swift.Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        time.with { $0 = max($0, deadline.offset) }
    }
}

extension All {
    /// The fakes behave as the real client does, in no time, and without a call of the native
    /// library.
    @Suite(.timeLimit(.minutes(1))) struct FakeTests {
        let request = TurnRequest(model: "m", prompt: "Rivers?")
        let clock = InstantClock()

        var rivers: RejoinClient {
            .fake(clock: clock) { script in
                script.thought("Hm. ")
                script.text("Rivers run. To th")
                script.pause(.seconds(7200))
                script.drop(.idle, keep: "Rivers run.")
                script.text(" To the sea.")
                script.tool("lookup", args: #"{"q":1}"#)
            }
        }

        @Test("a fake turn has the order and the numbers of a real one") func order() async throws {
            let events = try await rivers.stream(request).all()
            try expectWhole(events)
            #expect(
                events.map { wire($0.kind) } == [
                    "attempt_started", "thought", "text", "dropped", "reset", "attempt_started",
                    "text", "tool_seen",
                    "completed",
                ])
            #expect(clock.now.offset == .seconds(7200))
            let answer = try await rivers.ask(request)
            #expect(answer.text == "Rivers run. To the sea.")
            #expect(answer.attempts.map(\.strategy) == [.initial, .continue])
            let run = try await answer.runTools(ledger: MemoryLedger()) { _ in "ok" }
            #expect(run.results.map(\.call.name) == ["lookup"])
        }

        @Test("a fake turn can be read again from a cursor, cancelled and looked at") func cancel()
            async throws
        {
            let client = RejoinClient.fake { script in
                script.text("Rivers run. To th")
                script.pause(.seconds(7200))
                script.text("never")
            }
            let turn = try client.start(request)
            let at = try await turn.events.first { $0.kind.text != nil }
            #expect(try turn.snapshot().text == "Rivers run. To th")
            let rest = Task { try await turn.events(after: at.seq).all() }
            let waiting = Task { try await turn.answer() }
            try await Task.sleep(for: .milliseconds(20))
            turn.cancel()
            #expect(try await rest.value.map { wire($0.kind) } == ["failed"])
            #expect(await rejoinError { try await waiting.value }?.kind == .cancelled)
            #expect(try await turn.transcript().all().last?.text == "Rivers run. To th")
        }

        @Test("a task that reads a fake can be cancelled") func task() async throws {
            let client = RejoinClient.fake { $0.pause(.seconds(7200)) }
            let reading = Task { try await client.stream(request).all() }
            try await Task.sleep(for: .milliseconds(20))
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
        }

        @Test("a fake turn can fail, wait and go offline") func fail() async throws {
            let client = RejoinClient.fake(clock: clock) { script in
                script.waiting(.offline)
                script.waiting(.backoff, for: .seconds(3))
                script.fail(.unreachable, details: "no route")
            }
            let states = try await client.stream(request).transcript().all()
            #expect(states.map(\.status) == [.starting, .offline, .waiting, .failed])
            #expect(states[2].statusLine == "Trying again in 3 s…")
            let error = await rejoinError { try await client.ask(request) }
            #expect(error?.kind == .unreachable)
            #expect(error?.description.contains("no route") == true)
        }

        @Test("any sequence of events has a transcript") func sequence() async throws {
            let events = try await rivers.stream(request).all()
            let replay = AsyncStream { continuation in
                for event in events { continuation.yield(event) }
                continuation.finish()
            }
            let states = try await replay.transcript(.annotate).all()
            #expect(states.count == events.count)
            #expect(states.last?.notes.map(\.dropped) == [" To th"])
        }
    }
}
