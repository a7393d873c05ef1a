// The code of docs/swift.md, compiled. `DocsTests` checks that each block there occurs here,
// indentation aside.

import Foundation
import Rejoin
import Testing

#if canImport(SwiftUI)
    import SwiftUI
#endif

private func start(key: String, prompt: String, show: (String, String?) -> Void) async throws {
    let client = try RejoinClient(apiKey: key)
    let request = TurnRequest(model: "gemini-2.5-flash", prompt: prompt)
    for try await state in client.stream(request).transcript(.hold) {
        show(state.text, state.statusLine)
    }
}

private func tokens(_ appCheck: @escaping @Sendable () throws -> String) throws -> RejoinClient {
    let client = try RejoinClient(
        baseURL: "https://proxy.example.com",
        headerProvider: { attempt in ["x-firebase-appcheck": try appCheck()] },
        policy: Policy(minContinueTokens: 120)
    )
    return client
}

private func askAndLog(key: String, prompt: String, log: (String) -> Void) async throws
    -> Answer
{
    let careful = try RejoinClient(
        apiKey: key,
        policy: Policy(maxSpend: 0.01, inputPrice: 0.30, outputPrice: 2.50),
        budget: Budget(money: 5)
    )
    let request = TurnRequest(model: "gemini-2.5-flash", prompt: prompt, record: .shape)
    let turn = try careful.start(request)
    defer {
        try? turn.dropLog().forEach(log)
        if let recording = try? turn.recording() { log(recording) }
    }
    return try await turn.answer()
}

private func errors(
    client: RejoinClient, request: TurnRequest, show: (String) -> Void,
    offerToTryAgain: (String) -> Void
) async throws {
    do {
        show(try await client.ask(request).text)
    } catch let error as RejoinError where error.kind == .unreachable {
        offerToTryAgain(error.partialText)
    }
}

@MainActor
final class ChatModel: ObservableObject {
    @Published private(set) var state = Transcript()
    private let client: RejoinClient
    private var turn: Turn?

    init(client: RejoinClient) { self.client = client }

    func send(_ prompt: String) throws {
        turn = try client.start(TurnRequest(model: "gemini-2.5-flash", prompt: prompt))
    }

    /// Runs while the view is there. The turn goes on without it.
    func watch() async throws {
        guard let turn else { return }
        for try await state in turn.transcript(.hold) { self.state = state }
    }

    func stop() { turn?.cancel() }
}

struct ChatView: View {
    @ObservedObject var model: ChatModel

    var body: some View {
        Text(model.state.text)
            .task { try? await model.watch() }
    }
}

private func device(
    turn: Turn, onForeground: (@escaping @Sendable () -> Void) -> Void,
    onPath: (@escaping @Sendable (_ name: String?, _ expensive: Bool) -> Void) -> Void
) async {
    func onBackground(_ leave: @escaping @Sendable () async -> Void) {
        Task { await leave() }
    }
    let device = DeviceSignals()
    device.attach(turn)
    onBackground { await device.willSuspend() }
    onForeground { device.resumed() }
    onPath { name, expensive in device.network(name, metered: expensive) }
}

private func goOn(key: String, folder: String, show: (Turn) -> Void) throws {
    let client = try RejoinClient(apiKey: key, journal: JournalConfig(folder: folder))
    for kept in try client.journaled() where !kept.over {
        show(try client.restore(kept.turnId))
    }
}

private func durably(
    answer: Answer, folder: String,
    pay: @escaping @Sendable (_ args: String, _ key: String) async throws -> String
) async throws -> ToolRun {
    let durable = try DurableLedger(folder: folder)
    let ran = try await answer.runTools(ledger: durable, rule: { $0.name == "refund" ? .never : .retry }) {
        call in
        try await pay(call.args, call.effectKey)
    }
    return ran
}

private func tools(
    client: RejoinClient,
    pay: @escaping @Sendable (_ args: String, _ key: String) async throws -> String
)
    async throws -> Answer
{
    let refund = Tool(
        name: "refund", description: "Pays an order back",
        parameters:
            #"{"type":"object","properties":{"order":{"type":"integer"},"note":{"type":"string"}}}"#,
        keyFields: ["order"]
    )
    let ledger = MemoryLedger()
    let question = #"{"role":"user","parts":[{"text":"Refund order 7."}]}"#
    let request = TurnRequest(
        model: "gemini-2.5-flash", history: [question], tools: [refund], turnId: "chat-1-turn-3")
    let answer = try await client.ask(request)
    let run = try await answer.runTools(ledger: ledger) { call in
        try await pay(call.args, call.effectKey)
    }
    let next = TurnRequest(
        model: "gemini-2.5-flash", history: [question] + run.history, tools: [refund])
    return try await client.ask(next)
}

extension All {
    @Suite struct SnippetTests {
        @MainActor @Test func showsWhatStaysAfterADrop() async throws {
            let client = RejoinClient.fake { script in
                script.text("Rivers run to th")
                script.drop(.reset, keep: "Rivers run")
                script.text(" to the sea.")
            }
            let model = ChatModel(client: client)
            try model.send("Where do rivers go?")
            try await model.watch()
            #expect(model.state.text == "Rivers run to the sea.")
            #expect(model.state.completed?.attempts.count == 2)
        }

        @Test("the other snippets run too") func others() async throws {
            let client = RejoinClient.fake { script in
                if script.request.history.count < 2 { script.tool("refund", args: #"{"order":7}"#) }
                script.text("Paid back.")
            }
            let paid = Box<[String]>([])
            let answer = try await tools(client: client) { args, key in
                paid.with { $0.append(args) }
                return "ok"
            }
            #expect(answer.text == "Paid back." && paid.value == [#"{"order":7}"#])
            let shown = Box("")
            try await errors(
                client: .fake {
                    $0.text("wo")
                    $0.fail(.unreachable)
                }, request: ask(), show: { _ in },
                offerToTryAgain: { text in shown.with { $0 = text } })
            #expect(shown.value == "wo")
            _ = try tokens { "token" }
            await device(
                turn: try client.start(ask()), onForeground: { $0() },
                onPath: { $0("wifi", false) })
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("rejoin-\(UUID().uuidString)").path
            try goOn(key: "key", folder: folder) { _ in Issue.record("nothing is kept") }
            let run = try await durably(answer: answer, folder: folder) { _, _ in "ok" }
            #expect(run.results.isEmpty)
        }

        @Test("every snippet of docs/swift.md is compiled here") func docs() throws {
            func lines(_ text: String) -> [String] {
                text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
                    !$0.isEmpty
                }
            }
            let code = try lines(
                String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8))
            let docs = try String(contentsOf: repositoryFile("docs/swift.md"), encoding: .utf8)
            let blocks = docs.components(separatedBy: "```swift\n").dropFirst().map { block in
                lines(block.components(separatedBy: "\n```")[0])
            }
            #expect(blocks.count > 5)
            for block in blocks {
                let found = code.indices.contains { code[$0...].starts(with: block) }
                #expect(found, "not compiled: \(block.joined(separator: "\n"))")
            }
            print("docs/swift.md: \(blocks.count) snippets compiled")
        }
    }
}

#if !canImport(SwiftUI)
    /// As much of SwiftUI as the view in the docs needs, so that it is type-checked on Linux too.
    @MainActor protocol View {
        associatedtype Body: View
        @MainActor var body: Body { get }
    }
    protocol ObservableObject: AnyObject {}
    @propertyWrapper struct Published<Value> { var wrappedValue: Value }
    @MainActor @propertyWrapper struct ObservedObject<Model: ObservableObject> {
        var wrappedValue: Model
    }
    extension Never: View { var body: Never { fatalError() } }
    struct Text: View {
        init(_ text: String) {}
        var body: Never { fatalError() }
    }
    struct WithTask<Content: View>: View { var body: Never { fatalError() } }
    extension View {
        func task(_ action: @escaping @Sendable () async -> Void) -> some View { WithTask<Self>() }
    }
#endif
