import Rejoin
import Testing

@Test func smoke() async throws {
    let client = RejoinClient.fake { script in
        script.text("Rivers run to th")
        script.drop(.reset)
        script.text("Rivers run to the sea.")
    }
    #expect(try await client.ask(TurnRequest(model: "m", prompt: "x")).text == "Rivers run to the sea.")
    #expect(try RejoinHelpers.estimateTokens("The sky is blue today.") == 6)
}
