import Foundation
import Rejoin
import Testing

extension All {
    /// What a turn cost, what broke in it, and how to play it again.
    @Suite(.timeLimit(.minutes(1))) struct StatisticsTests {
        private let broken = """
            {"send":["Secret words."],"usage":[10,40,0],"end":"reset"},
            {"send":["Other words.",{"finish":"STOP"}],"usage":[10,30,0]}
            """

        @Test("each drop is a line without its words once the turn is over")
        func drops() async throws {
            let server = try FlakyServer(broken)
            let turn = try client(server.url).start(ask("anna-7"))
            let answer = try await turn.answer()
            let lines = try turn.dropLog()
            #expect(lines.count == 1)
            let drop = try JSON.parse(lines[0])
            #expect(drop["cause"]?.text == "reset")
            #expect(drop["received_tokens"]?.int == 40)
            #expect(drop["next"]?["strategy"]?.text == "restart")
            #expect(!lines[0].contains("Secret") && !lines[0].contains("anna"))
            #expect(answer.attempts.map(\.seam) == [nil, nil])
        }

        @Test("a recording is there after the end, if it was asked for, without words")
        func recording() async throws {
            let server = try FlakyServer(broken)
            let plain = try client(server.url).start(ask())
            _ = try await plain.answer()
            #expect(try plain.recording() == nil)
            let again = try FlakyServer(broken)
            let request = TurnRequest(model: "m", prompt: "Go on.", record: .shape)
            let turn = try client(again.url).start(request)
            _ = try await turn.answer()
            let recording = try #require(try turn.recording())
            #expect(!recording.contains("Secret") && !recording.contains("Go on"))
            #expect(recording.hasPrefix(#"{"type":"recording""#))
        }

        @Test("a turn says what it cost and a client adds it up") func spend() async throws {
            let server = try FlakyServer(broken)
            let policy = Policy.quick(.object(["input_price": .int(1), "output_price": .int(4)]))
            let client = try client(server.url, policy)
            let spend = try #require(try await client.ask(ask()).spend)
            #expect(spend.inputTokens == 20 && spend.outputTokens == 70)
            #expect(abs(try #require(spend.money) - 0.000_3) < 1e-9)
            #expect(spend.lowerBound)
            #expect(try client.spent() == spend)
        }

        @Test("a budget that is used up fails the next attempt, and a new turn sends nothing")
        func budget() async throws {
            let server = try FlakyServer(broken)
            let client = try RejoinClient(
                apiKey: "test-key", baseURL: server.url, policy: .quick(),
                budget: Budget(outputTokens: 40))
            let first = await rejoinError { try await client.ask(ask()) }
            #expect(first?.kind == .spendUsedUp)
            #expect(first?.partialText == "Secret words.")
            let second = await rejoinError { try await client.ask(ask()) }
            #expect(second?.kind == .spendUsedUp)
            #expect(try client.spent().outputTokens == 40)
            #expect(throws: RejoinError.self) {
                try RejoinClient(policy: Policy(maxSpend: 1))
            }
        }
    }
}
