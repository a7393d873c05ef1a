import Testing

@testable import Rejoin

extension All {
    @Suite(.timeLimit(.minutes(1))) struct ToolsTests {
        let tools = [
            Tool(
                name: "refund", description: "Pays back", parameters: #"{"type":"object"}"#,
                keyFields: ["order"]),
            Tool(name: "lookup", readOnly: true),
        ]

        func request(_ turnId: String) -> TurnRequest {
            TurnRequest(model: "m", prompt: "Refund it.", tools: tools, turnId: turnId)
        }

        @Test("a call seen twice through a drop runs once, with one key") func once() async throws {
            let server = try FlakyServer(
                #"{"send":[{"call":"refund","args":{"order":7,"note":"sorry"},"id":"c1"}],"end":"reset"}"#,
                #"{"send":[{"call":"lookup","args":{}},{"call":"refund","args":{"note":"so sorry","order":7},"id":"c9","finish":"STOP"}]}"#
            )
            let answer = try await client(server.url).ask(request("turn-7"))
            #expect(answer.toolCalls.map(\.name) == ["lookup", "refund"])
            #expect(answer.toolCalls.map(\.readOnly) == [true, false])
            let key = try RejoinHelpers.effectKey(
                turnId: "turn-7", name: "refund", args: #"{"order":7}"#)
            #expect(answer.toolCalls[1].effectKey == key)

            let ledger = MemoryLedger()
            let ran = Box<[String]>([])
            let run: @Sendable (ToolCall) async throws -> String = { call in
                ran.with { $0.append(call.name) }
                return call.name == "lookup" ? "found" : #"{"paid":true}"#
            }
            let first = try await answer.runTools(ledger: ledger, run)
            // The app was killed and runs the same turn again: the refund is not paid twice.
            let again = try await answer.runTools(ledger: ledger, run)
            #expect(ran.value == ["lookup", "refund", "lookup"])
            #expect(first == again)
            let expected = try JSON.parse(
                #"""
                {"role":"user","parts":[
                  {"functionResponse":{"name":"lookup","response":{"result":"found"}}},
                  {"functionResponse":{"id":"c9","name":"refund","response":{"paid":true}}}]}
                """#)
            #expect(try JSON.parse(#require(first.history.last)) == expected)
            #expect(answer.history == first.history.dropLast())
        }

        @Test("an answer without calls runs nothing") func none() async throws {
            let server = try FlakyServer(#"{"send":[{"text":"No.","finish":"STOP"}]}"#)
            let answer = try await client(server.url).ask(request("t"))
            let run = try await answer.runTools(ledger: MemoryLedger()) { _ in
                throw Wrong("nothing to run")
            }
            #expect(run.results == [] && run.history == answer.history)
        }

        @Test("a tool that fails is run again, and those before it are not") func failing()
            async throws
        {
            let calls = ["a", "b"].map {
                ToolCall(
                    name: $0, args: "{}", effectKey: "key-\($0)", ordinal: 0, step: nil,
                    providerId: nil,
                    readOnly: false)
            }
            let finish = Finish(class: .complete, reason: "STOP")
            let answer = Answer(
                text: "", finish: finish, toolCalls: calls, history: [], attempts: [])
            let ledger = MemoryLedger()
            let ran = Box<[String]>([])
            await #expect(throws: Wrong.self) {
                try await answer.runTools(ledger: ledger) { call in
                    ran.with { $0.append(call.name) }
                    if call.name == "b" { throw Wrong("no network") }
                    return "ok"
                }
            }
            _ = try await answer.runTools(ledger: ledger) { call in
                ran.with { $0.append(call.name) }
                return "ok"
            }
            #expect(ran.value == ["a", "b", "b"])
        }

        @Test("one of many callers with the same key runs") func many() async throws {
            let ledger = MemoryLedger()
            let runs = Box(0)
            let results = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await ledger.once("k") {
                            try await Task.sleep(for: .milliseconds(20))
                            runs.with { $0 += 1 }
                            return "r"
                        }
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(runs.value == 1 && results == ["r"])
            #expect(try await ledger.once("other") { "s" } == "s")
        }

        @Test("a caller that is cancelled while it runs leaves the next one to run")
        func cancelled() async throws {
            let ledger = MemoryLedger()
            let first = Task {
                try await ledger.once("k") {
                    try await Task.sleep(for: .seconds(20))
                    return "never"
                }
            }
            try await Task.sleep(for: .milliseconds(30))
            let gone = Task { try await ledger.once("k") { "gone" } }
            let second = Task { try await ledger.once("k") { "second" } }
            try await Task.sleep(for: .milliseconds(30))
            gone.cancel()
            await #expect(throws: CancellationError.self) { try await gone.value }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            #expect(try await second.value == "second")
        }

        @Test("any text is a JSON string") func strings() throws {
            let text = "a\"\\\n\r\t\u{1}é😀\u{2028}\r\n"
            #expect(try JSON.parse(jsonString(text)).text == text)
            #expect(jsonString("") == "\"\"")
        }
    }
}
