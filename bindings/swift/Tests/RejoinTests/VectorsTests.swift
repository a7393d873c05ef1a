import Foundation
import Rejoin
import Testing

extension All {
    /// The vectors that Rust, Kotlin and Swift share: tests/vectors.
    @Suite struct VectorsTests {
        func cases(_ name: String) throws -> [JSON] {
            let cases =
                try JSON.read(repositoryFile("tests/vectors/\(name).json"))["cases"]?.list ?? []
            try #require(!cases.isEmpty)
            print("vectors through Swift: \(name), \(cases.count) cases")
            return cases
        }

        @Test("effect keys") func effectKeys() throws {
            for vector in try cases("effect_key") {
                let key = try RejoinHelpers.effectKey(
                    turnId: vector["turn"]?.text ?? "", name: vector["name"]?.text ?? "",
                    args: vector["args"]?.text ?? "", ordinal: Int(vector["ordinal"]?.int ?? 0),
                    step: vector["step"]?.text,
                    keyFields: vector["key_fields"]?.list.compactMap(\.text) ?? [])
                #expect(key == vector["key"]?.text, "\(vector["about"]?.text ?? "")")
            }
        }

        @Test("committed text") func committedText() throws {
            for vector in try cases("committed_text") {
                let text = try #require(vector["text"]?.text)
                let committed = try RejoinHelpers.committedText(text)
                #expect(
                    committed.committed.map { Array($0.utf8) }
                        == vector["committed"]?.text.map { Array($0.utf8) })
                #expect(committed.committedUtf16 == vector["committed_utf16"]?.int)
                let prefix = Array(text.utf16.prefix(Int(committed.committedUtf16)))
                #expect(prefix == Array((committed.committed ?? "").utf16))
            }
        }

        @Test("estimated tokens") func tokens() throws {
            for vector in try cases("estimate_tokens") {
                let tokens = try RejoinHelpers.estimateTokens(vector["text"]?.text ?? "")
                #expect(Int64(tokens) == vector["tokens"]?.int)
            }
        }

        @Test("decisions") func decisions() throws {
            for vector in try cases("decide") {
                let decision = try RejoinHelpers.decide(
                    evidence(#require(vector["evidence"])), policy: vector["policy"].map(policy))
                #expect(
                    decision.strategy.map(wire) ?? "fail" == vector["strategy"]?.text, "\(vector)")
                #expect(
                    decision.reasons.map(wire) == vector["reasons"]?.list.compactMap(\.text),
                    "\(vector)")
            }
        }

        @Test("transcripts") func transcripts() throws {
            var checks = 0
            for vector in try cases("transcript") {
                let events = try given(vector["events"], "events").list.map(event)
                for check in vector["checks"]?.list ?? [] {
                    let presentation = try #require(
                        Presentation(rawValue: check["presentation"]?.text ?? ""))
                    var reducer = TranscriptReducer(presentation)
                    for event in events.prefix(Int(check["after"]?.int ?? 0)) {
                        reducer.apply(event)
                    }
                    let got = try reducer.current.json()
                    #expect(
                        got == check["expect"], "\(vector["name"]?.text ?? "") in \(presentation)")
                    checks += 1
                }
            }
            print("vectors through Swift: \(checks) screen states")
        }

        private func evidence(_ json: JSON) -> Evidence {
            func flag(_ name: String) -> Bool { json[name]?.flag ?? false }
            func int(_ name: String) -> Int64 { json[name]?.int ?? 0 }
            return Evidence(
                cancelled: flag("cancelled"), notRetryable: flag("not_retryable"),
                modelFaultRepeated: flag("model_fault_repeated"), attempts: Int32(int("attempts")),
                unsent: Int32(int("unsent")), wasUnsent: flag("was_unsent"),
                spentTokens: int("spent_tokens"),
                streamDrops: Int32(int("stream_drops")), fellBack: flag("fell_back"),
                hasToken: flag("has_token"),
                resumeRefused: flag("resume_refused"), schema: flag("schema"),
                toolSeen: flag("tool_seen"),
                codeSeen: flag("code_seen"), mediaSeen: flag("media_seen"),
                groundingSeen: flag("grounding_seen"),
                forcedTools: flag("forced_tools"), deepThinking: flag("deep_thinking"),
                modelFault: flag("model_fault"), continuationRefused: flag("continuation_refused"),
                continuationEmpty: flag("continuation_empty"), hasCommitted: flag("has_committed"),
                committedTokens: int("committed_tokens"))
        }

        private func policy(_ json: JSON) -> Policy {
            Policy(
                minContinueTokens: json["min_continue_tokens"]?.int,
                maxAttempts: json["max_attempts"]?.int.map(Int32.init),
                maxOutputSpendTokens: json["max_output_spend_tokens"]?.int)
        }
    }
}

private func given<Value>(_ value: Value?, _ name: String) throws -> Value {
    guard let value else { throw Wrong("no \(name)") }
    return value
}

/// The case with this name in EVENTS.md.
private func named<Value>(_ name: String?, _ values: [Value]) throws -> Value {
    guard let value = values.first(where: { wire($0) == name }) else {
        throw Wrong("no \(Value.self) is \(name ?? "nil")")
    }
    return value
}

private let strategies: [Strategy] = [.initial, .resume, .restart, .continue, .nonStreaming]
private let causes: [Cause] = [
    .unreachable, .refused, .closedEarly, .reset, .idle, .firstByteTimeout, .serverError,
    .malformed, .notAStream,
    .tooLarge, .empty, .modelFault, .spliced, .networkChanged, .suspended,
]
private let kinds: [ErrorKind] = [
    .cancelled, .badRequest, .unauthorized, .forbidden, .notFound, .quotaExhausted, .blocked,
    .attemptsUsedUp,
    .unreachable, .spendUsedUp, .invalidArgument, .internal,
]

/// An event of EVENTS.md as the surface's value.
private func event(_ json: JSON) throws -> TurnEvent {
    func text(_ name: String) throws -> String { try given(json[name]?.text, name) }
    func int(_ name: String) throws -> Int64 { try given(json[name]?.int, name) }
    let kind: EventKind
    switch try text("type") {
    case "attempt_started":
        kind = .attemptStarted(strategy: try named(text("strategy"), strategies))
    case "text": kind = .text(text: try text("text"))
    case "thought": kind = .thought(text: try text("text"))
    case "tool_seen": kind = .toolSeen(name: try text("name"))
    case "part": kind = .part(part: try given(json["part"], "part").encoded)
    case "dropped":
        let strategy = json["decision"]?["strategy"]?.text
        kind = .dropped(
            cause: try named(text("cause"), causes), detail: json["detail"]?.text,
            httpStatus: json["http_status"]?.int.map(Int32.init),
            receivedTokens: try int("received_tokens"),
            committedTokens: try int("committed_tokens"), exact: json["exact"]?.flag ?? false,
            decision: Decision(
                strategy: strategy == "fail" ? nil : try named(strategy, strategies), reasons: []))
    case "waiting":
        kind = .waiting(
            nextAttempt: Int32(try int("next_attempt")), forMs: json["for_ms"]?.int,
            why: try named(text("why"), [.backoff, .serverAsked, .offline]))
    case "reset":
        let reason: ResetReason =
            switch try text("reason") {
            case "continuation": .continuation
            case "answer_restarted": .answerRestarted
            case let cause: .dropped(cause: try named(cause, causes))
            }
        kind = .reset(
            keepUtf16: try int("keep_utf16"), keepTextBytes: try int("keep_text_bytes"),
            keepThoughtUtf16: try int("keep_thought_utf16"),
            keepTools: Int32(try int("keep_tools")),
            keepParts: Int32(try int("keep_parts")), reason: reason)
    case "completed":
        let finish = Finish(
            class: try named(
                json["finish"]?["class"]?.text, [.complete, .truncated, .policy, .unknown]),
            reason: json["finish"]?["reason"]?.text ?? "")
        kind = .completed(
            answer: Answer(
                text: try text("text"), finish: finish, toolCalls: [], history: [], attempts: []))
    case "failed":
        kind = .failed(
            failure: Failure(
                kind: try named(json["error"]?["kind"]?.text, kinds),
                reason: json["error"]?["reason"]?.text ?? "",
                httpStatus: nil, details: nil, partialText: try text("partial_text"), attempts: []))
    case let type: throw Wrong("no event is of type \(type)")
    }
    return TurnEvent(
        turn: try text("turn"), seq: try int("seq"), attempt: Int32(try int("attempt")), kind: kind)
}

extension Transcript {
    /// A screen state in the form of the vectors.
    fileprivate func json() throws -> JSON {
        .object([
            "text": .string(text), "answer": .string(answer), "holding": .bool(holding),
            "thoughts": .string(thoughts),
            "pending_tools": .array(pendingTools.map(JSON.string)),
            "parts": .array(try parts.map(JSON.parse)),
            "status": .string(wire(status)), "status_line": .of(statusLine),
            "last_reset": lastReset?.json ?? .null, "notes": .array(notes.map(\.json)),
            "attempt": .int(Int64(attempt)),
            "cursor": .int(cursor), "finished": .bool(finished),
        ])
    }
}

extension ResetNote {
    fileprivate var json: JSON {
        let why: String =
            switch reason {
            case .dropped(let cause): wire(cause)
            case .continuation, .answerRestarted: wire(reason)
            }
        return .object([
            "attempt": .int(Int64(attempt)), "at_utf16": .int(Int64(atUtf16)),
            "dropped": .string(dropped),
            "reason": .string(why),
        ])
    }
}
