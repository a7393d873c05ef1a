import Foundation
import Rejoin
import Testing

extension All {
    /// Every fault script of the repository, through the Swift API: what the user sees is right.
    @Suite(.timeLimit(.minutes(5))) struct FaultScriptsTests {
        @Test("every fault script ends as it says") func all() async throws {
            let folder = repositoryFile("tests/faults")
            let files = try FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil
            )
            .filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
            #expect(files.count > 100)
            // Enough at once to be quick, few enough that two cores keep the scripts' times.
            let results = await withTaskGroup(of: (wrong: String?, Set<Strategy>).self) { group in
                var left = files[...]
                var results: [(wrong: String?, Set<Strategy>)] = []
                func start() {
                    guard let file = left.popFirst() else { return }
                    group.addTask {
                        do {
                            return (nil, try await play(file))
                        } catch {
                            return ("\(file.lastPathComponent): \(error)", [])
                        }
                    }
                }
                for _ in 0..<6 { start() }
                for await result in group {
                    results.append(result)
                    start()
                }
                return results
            }
            let wrong = results.compactMap(\.wrong)
            print("fault scripts through Swift: \(files.count), wrong: \(wrong.count)")
            #expect(wrong == [])
            #expect(
                results.reduce(into: Set<Strategy>()) { $0.formUnion($1.1) }
                    == [.initial, .resume, .restart, .continue, .nonStreaming])
        }
    }
}

private func play(_ file: URL) async throws -> Set<Strategy> {
    let script = try JSON.read(file)
    for name in script["policy"]?.keys ?? [] where !Policy.known.contains(name) {
        throw Wrong("no policy field \(name)")
    }
    let server = try FlakyServer(script: file)
    let turn = try client(server.url, .quick(script["policy"])).start(request(script))
    let later = script["cancel"]?["after_ms"]?.int.map { ms in
        Task {
            try await Task.sleep(for: .milliseconds(ms))
            turn.cancel()
        }
    }
    var events: [TurnEvent] = []
    for try await event in turn.events {
        events.append(event)
        if let on = script["cancel"]?["on"]?.text, on == wire(event.kind) { turn.cancel() }
    }
    later?.cancel()
    return try check(script, events)
}

private func request(_ script: JSON) -> TurnRequest {
    let request = script["request"]
    let turnId = script["turn_id"]?.text
    if let body = request?["body"] {
        return TurnRequest(model: "m", raw: body.encoded, turnId: turnId)
    }
    let tools = request?["tools"]?.list.compactMap(\.text).map {
        Tool(name: $0, parameters: #"{"type":"object"}"#)
    }
    return TurnRequest(
        model: "m", prompt: request?["prompt"]?.text, system: request?["system"]?.text,
        tools: tools ?? [],
        turnId: turnId)
}

private func same(_ got: (some Equatable)?, _ want: JSON?, _ what: String) throws {
    guard let want = want?.text else { return }
    let got = got.map { "\($0)" } ?? "nothing"
    if Array(got.utf8) != Array(want.utf8) { throw Wrong("\(what) is «\(got)», not «\(want)»") }
}

private func check(_ script: JSON, _ events: [TurnEvent]) throws -> Set<Strategy> {
    try expectWhole(events)
    let expect = script["expect"]
    let last = try #require(events.last?.kind)
    try same(wire(last), expect?["end"], "the end")
    if let answer = last.answer {
        try same(answer.text, expect?["text"], "the text")
        try same(wire(answer.finish.class), expect?["finish"]?["class"], "the class")
        if let tools = expect?["tools"]?.list {
            let got = try answer.toolCalls.map { [JSON.string($0.name), try JSON.parse($0.args)] }
            let want = tools.map { [$0["name"] ?? .null, $0["args"] ?? .null] }
            if got != want { throw Wrong("tools are \(got), not \(want)") }
        }
    } else if let failure = last.failure {
        try same(failure.partialText, expect?["partial_text"], "the partial text")
        try same(wire(failure.kind), expect?["error"]?["kind"], "the kind")
    }
    let attempts = last.answer?.attempts ?? last.failure?.attempts ?? []
    let expected = expect?["attempts"]?.list ?? []
    if !expected.isEmpty, expected.allSatisfy({ $0.text == nil }) {
        if attempts.count != expected.count {
            throw Wrong("\(attempts.count) attempts, not \(expected.count)")
        }
        for (want, got) in zip(expected, attempts) {
            try same(wire(got.strategy), want["strategy"], "a strategy")
            try same(wire(got.outcome), want["outcome"], "an outcome")
            try same(got.cause.map { wire($0) }, want["cause"], "a cause")
        }
    }
    var reducer = TranscriptReducer()
    let never = expect?["never"]?.list.compactMap(\.text) ?? []
    for event in events {
        reducer.apply(event)
        for never in never where reducer.current.text.contains(never) {
            throw Wrong("shows «\(never)»")
        }
    }
    return Set(attempts.map(\.strategy))
}
