import RejoinBindings

/// Remembers which effects have been made, by effect key, and what came of them.
public protocol EffectLedger: Sendable {
    /// The result recorded under `key`; else runs `effect` and records what it returns.
    ///
    /// Of callers with the same key at the same time one runs, and the others wait for its result.
    /// If `effect` throws or is cancelled, nothing is recorded: the next caller runs it again.
    func once(_ key: String, _ effect: @Sendable () async throws -> String) async throws -> String
}

/// A ledger for the life of the process. Safe to use from any thread.
public final class MemoryLedger: EffectLedger {
    private enum Entry {
        case running(Waiters)
        case done(String)
    }

    private enum Step {
        case run(Waiters)
        case wait(Waiters)
        case take(String)
    }

    private let entries = Locked<[String: Entry]>([:])

    /// An empty ledger.
    public init() {}

    /// See ``EffectLedger/once(_:_:)``. A caller whose task is cancelled while it waits for another
    /// one throws `CancellationError`; the other one goes on.
    public func once(_ key: String, _ effect: @Sendable () async throws -> String) async throws
        -> String
    {
        while true {
            switch step(key) {
            case .take(let result): return result
            case .wait(let line):
                await line.wait { isRunning(key, line) }
                try Task.checkCancellation()
            case .run(let line):
                do {
                    let result = try await effect()
                    end(key, line, .done(result))
                    return result
                } catch {
                    end(key, line, nil)
                    throw error
                }
            }
        }
    }

    private func step(_ key: String) -> Step {
        entries.with { entries in
            switch entries[key] {
            case .done(let result): return .take(result)
            case .running(let line): return .wait(line)
            case nil:
                let line = Waiters()
                entries[key] = .running(line)
                return .run(line)
            }
        }
    }

    private func isRunning(_ key: String, _ line: Waiters) -> Bool {
        entries.with { entries in
            if case .running(let now) = entries[key] { now === line } else { false }
        }
    }

    private func end(_ key: String, _ line: Waiters, _ entry: Entry?) {
        entries.with { $0[key] = entry }
        line.wake()
    }
}

/// What came of one call.
public struct ToolResult: Sendable, Hashable {
    /// The call.
    public let call: ToolCall
    /// What the tool returned.
    public let response: String
}

/// What came of all calls of an answer.
public struct ToolRun: Sendable, Hashable {
    /// In the order of the calls; empty where the answer called nothing.
    public let results: [ToolResult]
    /// The contents to append for the next turn: the answer's, and one with the results if there
    /// were calls.
    public let history: [String]
}

extension Answer {
    /// Runs the calls of this answer, one after the other, each **once** under its effect key: a
    /// call that `ledger` knows is not run again, its recorded result is taken. Calls of tools
    /// declared `readOnly` run without the ledger.
    ///
    /// What `run` returns goes to the model as the function's response: a JSON object, or any other
    /// text, which is wrapped as `{"result": "…"}`. What it throws ends the run and reaches the
    /// caller; results up to there are in the ledger, so that running again repeats none of them.
    /// Cancelling the task is `run`'s to notice; between calls it ends the run with
    /// `CancellationError`.
    public func runTools(
        ledger: some EffectLedger, _ run: @escaping @Sendable (ToolCall) async throws -> String
    ) async throws -> ToolRun {
        var results: [ToolResult] = []
        for call in toolCalls {
            try Task.checkCancellation()
            let response =
                if call.readOnly { try await run(call) } else {
                    try await ledger.once(call.effectKey) { try await run(call) }
                }
            results.append(ToolResult(call: call, response: response))
        }
        return ToolRun(
            results: results, history: results.isEmpty ? history : history + [responses(results)])
    }
}

private func responses(_ results: [ToolResult]) -> String {
    let parts = results.map { result in
        // The id is echoed if and only if the provider gave one.
        let id = result.call.providerId.map { #""id":\#(jsonString($0)),"# } ?? ""
        let isObject = result.response.first { !$0.isWhitespace } == "{"
        let body = isObject ? result.response : #"{"result":\#(jsonString(result.response))}"#
        return
            #"{"functionResponse":{\#(id)"name":\#(jsonString(result.call.name)),"response":\#(body)}}"#
    }
    return #"{"role":"user","parts":[\#(parts.joined(separator: ","))]}"#
}

func jsonString(_ text: String) -> String {
    var json = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": json += "\\\(scalar)"
        case "\n": json += "\\n"
        case "\r": json += "\\r"
        case "\t": json += "\\t"
        case "\0"..<" ":
            let hex = String(scalar.value, radix: 16)
            json += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        default: json.unicodeScalars.append(scalar)
        }
    }
    return json + "\""
}
