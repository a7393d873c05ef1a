import Foundation
import Rejoin
import Testing

extension All {
    /// Cancelling in every phase of a turn: the socket closes, and nothing follows.
    @Suite(.timeLimit(.minutes(1))) struct CancelTests {
        let closed = Box<Bool?>(nil)

        /// A server that goes as far as `phase` and then waits for the client to close.
        func stuck(_ phase: @escaping @Sendable (PlainServer.Connection) -> Void) -> PlainServer {
            PlainServer { [closed] connection in
                phase(connection)
                let isClosed = connection.untilClosed()
                closed.with { $0 = isClosed }
            }
        }

        func expectSocketClosed(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try await eventually("the socket's end") { closed.value != nil }
            #expect(closed.value == true, "the socket stayed open", sourceLocation: sourceLocation)
        }

        @discardableResult
        func cancelled(
            in server: PlainServer, _ policy: Policy = .patient,
            until: (TurnEvent) -> Bool = { $0.kind.isStart }
        ) async throws -> Failure {
            let turn = try client(server.url, policy).start(ask())
            try await turn.events.first(until)
            try await server.request()
            async let pending = turn.events.all()
            try await Task.sleep(for: .milliseconds(50))
            let before = ContinuousClock.now
            turn.cancel()
            let failure = try #require(try await pending.last?.kind.failure)
            #expect(.now - before < .seconds(1), "a pending read did not complete")
            #expect(failure.kind == .cancelled)
            let requests = server.requests.count
            try await Task.sleep(for: .milliseconds(150))
            #expect(server.requests.count == requests, "a request followed")
            return failure
        }

        @Test("before the head") func beforeHead() async throws {
            try await cancelled(in: stuck { _ in })
            try await expectSocketClosed()
        }

        @Test("after the head, before a byte") func afterHead() async throws {
            try await cancelled(in: stuck { $0.stream() })
            try await expectSocketClosed()
        }

        @Test("while the model thinks") func thinking() async throws {
            try await cancelled(
                in: stuck {
                    $0.stream()
                    $0.thought("Hm. ")
                }
            ) { $0.kind.isThought }
            try await expectSocketClosed()
        }

        @Test("in mid-answer") func midAnswer() async throws {
            let server = stuck {
                $0.stream()
                $0.text("Half an ans")
            }
            let failure = try await cancelled(in: server) { $0.kind.text != nil }
            #expect(failure.partialText == "Half an ans")
            try await expectSocketClosed()
        }

        @Test("after the finish reason, while the connection stays open") func afterFinish()
            async throws
        {
            let server = stuck {
                $0.stream()
                $0.text("Done.")
                $0.stop()
            }
            try await cancelled(in: server, .patient("finish_grace_ms", 30_000)) {
                $0.kind.text != nil
            }
            try await expectSocketClosed()
        }

        @Test("in a pause before the next attempt") func pause() async throws {
            let server = PlainServer { $0.status(503) }
            try await cancelled(in: server, .patient("backoff_base_ms", 20_000)) {
                $0.kind.isWaiting
            }
            #expect(server.requests.count == 1)
        }

        @Test("at the seam of a continuation") func seam() async throws {
            let server = PlainServer { [closed] connection, request in
                connection.stream()
                if request == 1 {
                    connection.text("Rivers run to the sea. Some of th")
                } else {
                    connection.text("Some")
                    let isClosed = connection.untilClosed()
                    closed.with { $0 = isClosed }
                }
            }
            let failure = try await cancelled(in: server, .patient("min_continue_tokens", 1)) {
                $0.attempt == 2 && $0.kind.isStart
            }
            #expect(failure.attempts.last?.strategy == .continue)
            try await expectSocketClosed()
        }

        @Test("while the rest is fetched in one piece") func onePiece() async throws {
            let server = PlainServer { [closed] connection, request in
                if request <= 2 {
                    connection.stream()
                    connection.text("wo")
                } else {
                    let isClosed = connection.untilClosed()
                    closed.with { $0 = isClosed }
                }
            }
            let failure = try await cancelled(in: server) { $0.attempt == 3 && $0.kind.isStart }
            #expect(failure.attempts.last?.strategy == .nonStreaming)
            try await expectSocketClosed()
        }

        @Test("while the app's header provider blocks") func provider() async throws {
            let server = PlainServer { $0.stream() }
            let asked = Box(false)
            let client = try RejoinClient(
                baseURL: server.url,
                headerProvider: { _ in
                    asked.with { $0 = true }
                    Thread.sleep(forTimeInterval: 1)
                    return [:]
                })
            let turn = try client.start(ask())
            try await eventually("a question for headers") { asked.value }
            turn.cancel()
            #expect(await rejoinError { try await turn.answer() }?.kind == .cancelled)
            #expect(server.requests.isEmpty)
        }

        @Test("while nobody listens") func nobody() async throws {
            var url = ""
            do { url = PlainServer { _ in }.url }
            try await Task.sleep(for: .milliseconds(20))
            let turn = try client(url, .patient("backoff_base_ms", 20_000)).start(ask())
            try await turn.events.first { $0.kind.isWaiting }
            turn.cancel()
            #expect(await rejoinError { try await turn.answer() }?.kind == .cancelled)
        }

        @Test("after the end nothing happens") func afterEnd() async throws {
            let server = PlainServer {
                $0.stream()
                $0.text("All.")
                $0.stop()
            }
            let turn = try client(server.url).start(ask())
            #expect(try await turn.answer().text == "All.")
            turn.cancel()
            turn.signal(.networkLost)
            #expect(try await turn.events.all().last?.kind.answer?.text == "All.")
        }

        @Test("a cancelled task closes the socket of its stream, and throws CancellationError")
        func task() async throws {
            let server = stuck {
                $0.stream()
                $0.text("Half")
            }
            let seen = Box(0)
            let reading = Task {
                for try await _ in try client(server.url, .patient).stream(ask()) {
                    seen.with { $0 += 1 }
                }
            }
            try await eventually("two events") { seen.value == 2 }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            try await expectSocketClosed()
        }

        @Test(
            "a task cancelled while it handles an event closes the socket when it asks for the next"
        ) func busy() async throws {
            let server = stuck {
                $0.stream()
                $0.text("Half")
            }
            let reading = Task {
                for try await event in try client(server.url, .patient).stream(ask())
                where event.kind.text != nil {
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            await #expect(throws: CancellationError.self) { try await reading.value }
            try await expectSocketClosed()
        }

        @Test("a task that is cancelled already sends nothing") func cancelledAlready() async throws
        {
            let server = PlainServer { $0.status(500) }
            let reading = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await client(server.url).stream(ask()).all()
            }
            await #expect(throws: CancellationError.self) { try await reading.value }
            #expect(server.requests.isEmpty)
        }

        @Test("a loop that is left closes the socket") func leave() async throws {
            let server = stuck {
                $0.stream()
                $0.text("Half")
            }
            for try await event in try client(server.url, .patient).stream(ask())
            where event.kind.text != nil { break }
            try await expectSocketClosed()
        }

        @Test("a loop that throws closes the socket") func throwing() async throws {
            let server = stuck {
                $0.stream()
                $0.text("Half")
            }
            await #expect(throws: Wrong.self) {
                for try await event in try client(server.url, .patient).stream(ask())
                where event.kind.text != nil {
                    throw Wrong("enough")
                }
            }
            try await expectSocketClosed()
        }

        @Test("a turn that nobody holds closes its socket") func dropped() async throws {
            let server = stuck {
                $0.stream()
                $0.text("Half")
            }
            do {
                let turn = try client(server.url, .patient).start(ask())
                try await turn.events.first { $0.kind.text != nil }
            }
            try await expectSocketClosed()
        }

        @Test(
            "a turn whose reader waits and is cancelled, and that nobody holds, closes its socket")
        func waiting() async throws {
            let server = stuck {
                $0.stream()
                $0.text("Half")
            }
            let reading = Task {
                let turn = try client(server.url, .patient).start(ask())
                _ = try await turn.events.all()
            }
            try await server.request()
            try await Task.sleep(for: .milliseconds(100))
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            try await expectSocketClosed()
        }

        @Test("a reader of a kept turn that goes away leaves it running") func kept() async throws {
            let server = PlainServer {
                $0.stream()
                $0.text("One, ")
                Thread.sleep(forTimeInterval: 0.3)
                $0.text("two.")
                $0.stop()
            }
            let turn = try client(server.url, .patient).start(ask())
            try await turn.events.first { $0.kind.text != nil }
            let reading = Task { try await turn.events.all() }
            let waiting = Task { try await turn.answer() }
            try await Task.sleep(for: .milliseconds(100))
            let before = ContinuousClock.now
            reading.cancel()
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(.now - before < .milliseconds(100), "a cancelled reader waited for the library")
            #expect(try await turn.answer().text == "One, two.")
            #expect(server.requests.count == 1)
        }

        @Test("a cancelled task that asks closes the socket") func asking() async throws {
            let server = stuck {
                $0.stream()
                $0.text("Half")
            }
            let asking = Task { try await client(server.url, .patient).ask(ask()) }
            try await server.request()
            try await Task.sleep(for: .milliseconds(50))
            asking.cancel()
            await #expect(throws: CancellationError.self) { try await asking.value }
            try await expectSocketClosed()
        }

        @Test("twenty readers all get the last event") func many() async throws {
            let server = stuck {
                $0.stream()
                $0.text("Half")
            }
            let turn = try client(server.url, .patient).start(ask())
            let readers = (0..<20).map { _ in Task { try await turn.events.all() } }
            try await turn.events.first { $0.kind.text != nil }
            turn.cancel()
            for reader in readers {
                #expect(try await reader.value.last?.kind.failure?.kind == .cancelled)
            }
        }
    }
}
