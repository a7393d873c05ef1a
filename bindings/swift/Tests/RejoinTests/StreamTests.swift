import Foundation
import Rejoin
import Testing

extension All {
    /// Streaming over real sockets and the real library.
    @Suite(.timeLimit(.minutes(2))) struct StreamTests {
        @Test("ten thousand events arrive whole and in order") func tenThousand() async throws {
            let pieces = (0..<10_000).map { "piece \($0), " }
            let send = pieces.map { "\"\($0)\"" }.joined(separator: ",")
            let server = try FlakyServer(#"{"send":[\#(send),{"finish":"STOP"}],"segment":"all"}"#)
            let began = ContinuousClock.now
            let events = try await client(server.url).stream(ask()).all()
            print("10,000 events in \(Int((.now - began).ms)) ms")
            try expectWhole(events)
            #expect(events.compactMap(\.kind.text) == pieces)
        }

        @Test("a reader that is slow gets everything too") func slow() async throws {
            let send = (0..<200).map { "\"w\($0) \"" }.joined(separator: ",")
            let server = try FlakyServer(#"{"send":[\#(send),{"finish":"STOP"}],"segment":"all"}"#)
            var events: [TurnEvent] = []
            for try await event in try client(server.url).stream(ask()) {
                try await Task.sleep(for: .milliseconds(2))
                events.append(event)
            }
            try expectWhole(events)
        }

        @Test("a reader cancelled at random 300 times loses nothing") func random() async throws {
            let enough = Box(false)
            let sent = Box(0)
            let server = PlainServer { connection in
                connection.stream()
                while !enough.value {
                    let number = sent.with { sent in
                        sent += 1
                        return sent
                    }
                    connection.text("\(number) ")
                    if number % 4 == 0 { Thread.sleep(forTimeInterval: 0.002) }
                    // Quiet at times, so that readers also wait for the next event.
                    if number % 100 == 0 { Thread.sleep(forTimeInterval: 0.03) }
                }
                connection.stop()
            }
            let turn = try client(server.url, .patient).start(ask())
            let handled = Box<[TurnEvent]>([])
            var random = Seeded(state: UInt64(setting("REJOIN_TEST_SEED")) ?? 7)
            var cancelled = 0
            while handled.value.last?.isLast != true {
                let from = handled.value.last?.seq ?? 0
                let reading = Task {
                    for try await event in turn.events(after: from) {
                        handled.with { $0.append(event) }
                    }
                }
                if cancelled < 300 {
                    // From before the first read to after several: also in the middle of one.
                    try await Task.sleep(
                        for: .microseconds(Int.random(in: 0...8000, using: &random)))
                    reading.cancel()
                    do { try await reading.value } catch is CancellationError { cancelled += 1 }
                } else {
                    enough.with { $0 = true }
                    try await reading.value
                }
            }
            let events = handled.value
            print("reader cancelled \(cancelled) times, \(events.count) events, none lost")
            #expect(cancelled == 300)
            try expectWhole(events)
            #expect(events.compactMap(\.kind.text) == (1...sent.value).map { "\($0) " })
        }

        @Test("two turns at once stay apart") func two() async throws {
            let broken = try FlakyServer(
                #"{"send":["A",{"wait_ms":100},"B"],"end":"reset"}"#,
                #"{"send":["C",{"wait_ms":100},{"text":"D","finish":"STOP"}]}"#)
            let fine = PlainServer { connection in
                connection.stream()
                for _ in 0..<20 {
                    connection.text("x")
                    Thread.sleep(forTimeInterval: 0.01)
                }
                connection.stop()
            }
            async let first = client(broken.url).stream(ask("one")).all()
            async let second = client(fine.url).stream(ask("two")).all()
            let (one, two) = try await (first, second)
            try expectWhole(one)
            try expectWhole(two)
            #expect(Set(one.map(\.turn)) == ["one"])
            #expect(Set(two.map(\.turn)) == ["two"])
            #expect(rendered(one) == "CD")
            #expect(rendered(two) == String(repeating: "x", count: 20))
        }

        @Test("each iteration of a stream is a turn of its own") func cold() async throws {
            let server = PlainServer {
                $0.stream()
                $0.text("A")
                $0.stop()
            }
            let stream = try client(server.url).stream(ask())
            #expect(server.requests.isEmpty)
            let (one, two) = (try await stream.all(), try await stream.all())
            #expect(one.first?.turn != two.first?.turn)
            #expect(server.requests.count == 2)
        }

        @Test("a screen goes on from its cursor, and a new one needs no replay") func cursor()
            async throws
        {
            let server = PlainServer { connection in
                connection.stream()
                for number in 0..<40 {
                    connection.text("w\(number) ")
                    Thread.sleep(forTimeInterval: 0.01)
                }
                connection.stop()
            }
            let turn = try client(server.url, .patient).start(ask())
            let seen = Box<[TurnEvent]>([])
            let screen = Task {
                for try await event in turn.events { seen.with { $0.append(event) } }
            }
            try await Task.sleep(for: .milliseconds(150))
            screen.cancel()
            _ = await screen.result
            let before = seen.value.last?.seq ?? 0
            #expect(before > 1)
            try await Task.sleep(for: .milliseconds(80))
            let snapshot = try turn.snapshot()
            #expect(snapshot.cursor > before, "the turn runs on while nobody reads")
            let all = try await seen.value + turn.events(after: before).all()
            try expectWhole(all)

            let late = try await turn.events(after: snapshot.cursor).all()
            #expect(snapshot.text + rendered(late) == rendered(all))
            let full = try turn.snapshot()
            #expect(full.finished)
            #expect(full.text == rendered(all))
            #expect(try await turn.events(after: full.cursor).all() == [])
            // The screen state as a whole, in one value, since all is there.
            let states = try await turn.transcript().all()
            #expect(states.map(\.text) == [rendered(all)])
        }

        @Test("a snapshot after a drop shows what a screen shows") func snapshot() async throws {
            let server = try FlakyServer(
                #"{"send":[{"thought":"Hm. "},"One. Tw"],"end":"reset"}"#,
                #"{"send":["Fresh",{"wait_ms":400},{"text":" start.","finish":"STOP"}]}"#)
            let turn = try client(server.url).start(ask())
            let at = try await turn.events.first { $0.attempt == 2 && $0.kind.text != nil }
            let snapshot = try turn.snapshot()
            #expect(snapshot.text == "Fresh" && snapshot.thoughts == "")
            #expect(snapshot.cursor == at.seq && snapshot.attempt == 2)
            #expect(snapshot.strategy == .restart)
            #expect(
                snapshot.lastReset
                    == SnapshotReset(attempt: 2, keepUtf16: 0, reason: .dropped(cause: .reset)))
            #expect(try await turn.answer().text == "Fresh start.")
        }

        @Test("the first event and the last are not held up by the pacing") func pacing()
            async throws
        {
            let server = PlainServer {
                $0.stream()
                $0.text("A")
                Thread.sleep(forTimeInterval: 0.3)
                $0.text("B")
                $0.stop()
            }
            let began = ContinuousClock.now
            var at: [(kind: String, ms: Double)] = []
            for try await event in try client(server.url, .patient("finish_grace_ms", 0)).stream(
                ask())
            {
                at.append((wire(event.kind), (.now - began).ms))
            }
            print("first and last: \(at.map { "\($0.kind) \(Int($0.ms)) ms" })")
            #expect(at.first?.kind == "attempt_started")
            // B and the end come within one frame of each other; two frames would be a pause.
            let b = try #require(at.last { $0.kind == "text" })
            #expect(at[at.count - 1].ms - b.ms < 34)
        }

        @Test(
            "headers are asked for before each attempt, and a provider that throws is tried again")
        func headers() async throws {
            let server = PlainServer { connection, request in
                connection.stream()
                connection.text(request == 1 ? "wo" : "word")
                if request > 1 { connection.stop() }
            }
            let calls = Box(0)
            let client = try RejoinClient(
                baseURL: server.url, headers: ["x-app": "a1"],
                headerProvider: { attempt in
                    let call = calls.with { calls in
                        calls += 1
                        return calls
                    }
                    if call == 1 { throw Wrong("App Check is not ready") }
                    return ["authorization": "Bearer \(attempt)"]
                }, policy: .patient)
            let events = try await client.stream(ask()).all()
            try expectWhole(events)
            let unsent = events.compactMap { event -> (Cause, String?)? in
                if case .dropped(let cause, let detail, _, _, _, _, _) = event.kind {
                    (cause, detail)
                } else {
                    nil
                }
            }
            #expect(unsent.first?.0 == .unreachable)
            #expect(unsent.first?.1?.contains("App Check is not ready") == true)
            #expect(server.requests.map { $0.header("authorization") } == ["Bearer 2", "Bearer 3"])
            #expect(Set(server.requests.map { $0.header("x-app") }) == ["a1"])
        }

        @Test("signals reach the turn") func signals() async throws {
            let server = PlainServer { connection, request in
                connection.stream()
                connection.text(request == 1 ? "wo" : "word")
                if request == 1 { _ = connection.untilClosed() } else { connection.stop() }
            }
            let turn = try client(server.url, .patient).start(ask())
            try await turn.events.first { $0.kind.text != nil }
            turn.signal(.networkChanged)
            let answer = try await turn.answer()
            #expect(answer.text == "word")
            #expect(answer.attempts.first?.cause == .networkChanged)
        }

        @Test("what cannot be used is said before anything is sent") func invalid() async throws {
            #expect(
                await rejoinError { try RejoinClient(baseURL: "ftp://x") }?.kind == .invalidArgument
            )
            #expect(
                await rejoinError { try RejoinClient(headers: ["a b": "c"]) }?.kind
                    == .invalidArgument)
            #expect(
                await rejoinError { try RejoinClient(policy: Policy(maxAttempts: -1)) }?.kind
                    == .invalidArgument)
            let key = await rejoinError {
                try RejoinHelpers.effectKey(turnId: "t", name: "f", args: "{")
            }
            #expect(key?.kind == .invalidArgument)
            let server = PlainServer { $0.status(500) }
            let client = try client(server.url)
            for request in [
                TurnRequest(model: "no such model", prompt: "x"),
                TurnRequest(model: "m"),
                TurnRequest(model: "m", prompt: "x", raw: "{}"),
                TurnRequest(model: "m", prompt: "x", schema: "[]"),
                TurnRequest(
                    model: "m", prompt: "x", tools: [Tool(name: "t", parameters: "nonsense")]),
                TurnRequest(model: "m", prompt: "x", policy: Policy(backoffJitter: 2)),
            ] {
                let error = await rejoinError { try await client.stream(request).all() }
                #expect(error?.kind == .invalidArgument, "\(request)")
                #expect(error?.failure == nil)
            }
            let candidates = TurnRequest(
                model: "m", prompt: "x", generationConfig: #"{"candidateCount":2}"#)
            let error = await rejoinError { try await client.ask(candidates) }
            #expect(error?.kind == .invalidArgument)
            #expect(error?.failure?.attempts == [])
            #expect(server.requests.isEmpty)
        }

        @Test("a refusal that no retry cures has a kind and keeps the key to itself") func refused()
            async throws
        {
            let server = PlainServer { $0.status(401) }
            let error = await rejoinError { try await client(server.url).ask(ask()) }
            #expect(error?.kind == .unauthorized && error?.httpStatus == 401)
            #expect(
                !"\(String(describing: error)) \(error?.localizedDescription ?? "")".contains(
                    "test-key"))
            #expect(
                try await client(server.url).stream(ask()).all().last?.kind.failure?.kind
                    == .unauthorized)
        }

        @Test("the usual case by its fields") func fields() async throws {
            let server = try FlakyServer(#"{"send":[{"text":"{}","finish":"STOP"}]}"#)
            let request = TurnRequest(
                model: "m", prompt: "Hi", system: "Be brief.",
                history: [
                    #"{"role":"user","parts":[{"text":"a"}]}"#,
                    #"{"role":"model","parts":[{"text":"b"}]}"#,
                ],
                schema: #"{"type":"object"}"#, generationConfig: #"{"temperature":0.1}"#)
            #expect(try await client(server.url).ask(request).text == "{}")
        }
    }
}

/// Repeatable: a failure can be run again with REJOIN_TEST_SEED.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
