import Foundation
import Rejoin
import Testing

/// All tests, one after the other: several measure time, on few cores.
@Suite(.serialized) struct All {}

struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func setting(_ name: String) -> String { ProcessInfo.processInfo.environment[name] ?? "" }

func repositoryFile(_ path: String) -> URL {
    let root = setting("REJOIN_ROOT")
    let here = URL(fileURLWithPath: #filePath)
    let up = (0..<6).reduce(here) { url, _ in url.deletingLastPathComponent() }
    return (root.isEmpty ? up : URL(fileURLWithPath: root)).appendingPathComponent(path)
}

/// A value that several tasks and threads share.
final class Box<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value { with { $0 } }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&stored)
    }
}

func eventually(_ what: String, within limit: Duration = .seconds(6), _ condition: () -> Bool)
    async throws
{
    let began = ContinuousClock.now
    while !condition() {
        guard .now - began < limit else { throw Wrong("not in \(limit): \(what)") }
        try await Task.sleep(for: .milliseconds(3))
    }
}

extension Duration {
    var ms: Double { Double(components.seconds) * 1000 + Double(components.attoseconds) / 1e15 }
}

extension Policy {
    /// The numbers of a test runner (the fault scripts' README): quick, and exact waits. `json`
    /// overrides.
    static func quick(_ json: JSON? = nil, patient: Bool = false) -> Policy {
        func int(_ name: String, _ otherwise: Int64? = nil) -> Int64? {
            json?[name]?.int ?? otherwise
        }
        return Policy(
            minContinueTokens: int("min_continue_tokens"),
            deepThinkingTokens: int("deep_thinking_tokens"),
            maxAttempts: int("max_attempts").map(Int32.init),
            maxUnsent: int("max_unsent").map(Int32.init),
            streamDropsBeforeFallback: int("stream_drops_before_fallback").map(Int32.init),
            maxOutputSpendTokens: int("max_output_spend_tokens"),
            maxSpend: json?["max_spend"]?.double,
            inputPrice: json?["input_price"]?.double,
            cachedPrice: json?["cached_price"]?.double,
            outputPrice: json?["output_price"]?.double,
            continueTemperature: json?["continue_temperature"]?.double,
            seamHoldChars: int("seam_hold_chars"),
            seamHoldMs: int("seam_hold_ms"),
            maxEventBytes: int("max_event_bytes"),
            connectTimeoutMs: int("connect_timeout_ms", 1000),
            firstByteTimeoutMs: int("first_byte_timeout_ms", patient ? 60_000 : 1500),
            idleTimeoutMs: int("idle_timeout_ms", patient ? 60_000 : 700),
            finishGraceMs: int("finish_grace_ms", 300),
            nonStreamingTimeoutMs: int("non_streaming_timeout_ms", 1500),
            backoffBaseMs: int("backoff_base_ms", 20),
            backoffMaxMs: int("backoff_max_ms"),
            backoffJitter: json?["backoff_jitter"]?.double ?? 0,
            offlineWaitMs: int("offline_wait_ms"),
            suspendGapMs: int("suspend_gap_ms")
        )
    }

    static let known: Set<String> = [
        "min_continue_tokens", "deep_thinking_tokens", "max_attempts", "max_unsent",
        "stream_drops_before_fallback", "max_output_spend_tokens", "max_spend",
        "input_price", "cached_price", "output_price", "continue_temperature",
        "seam_hold_chars", "seam_hold_ms", "max_event_bytes", "connect_timeout_ms",
        "first_byte_timeout_ms", "idle_timeout_ms", "finish_grace_ms",
        "non_streaming_timeout_ms", "backoff_base_ms", "backoff_max_ms", "backoff_jitter",
        "offline_wait_ms", "suspend_gap_ms",
    ]

    /// For tests in which only the test itself ends anything.
    static let patient = quick(patient: true)

    static func patient(_ name: String, _ value: Int64) -> Policy {
        quick(.object([name: .int(value)]), patient: true)
    }
}

func client(_ url: String, _ policy: Policy = .quick()) throws -> RejoinClient {
    try RejoinClient(apiKey: "test-key", baseURL: url, policy: policy)
}

func ask(_ turnId: String? = nil) -> TurnRequest {
    TurnRequest(model: "m", prompt: "Go on.", turnId: turnId)
}

extension AsyncSequence {
    func all() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }

    @discardableResult
    func first(_ matches: (Element) -> Bool) async throws -> Element {
        for try await element in self where matches(element) { return element }
        throw Wrong("no such element")
    }
}

extension EventKind {
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var isWaiting: Bool { if case .waiting = self { true } else { false } }
    var isStart: Bool { if case .attemptStarted = self { true } else { false } }
    var isThought: Bool { if case .thought = self { true } else { false } }
    var answer: Answer? { if case .completed(let answer) = self { answer } else { nil } }
    var failure: Failure? { if case .failed(let failure) = self { failure } else { nil } }
}

func rejoinError(_ call: () async throws -> some Any) async -> RejoinError? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error as? RejoinError
    }
}

/// What a renderer with the two rules ends up with.
func rendered(_ events: [TurnEvent]) -> String {
    var shown: [UInt16] = []
    for event in events {
        switch event.kind {
        case .text(let text): shown += text.utf16
        case .reset(let keep, _, _, _, _, _): shown.removeLast(shown.count - Int(keep))
        default: break
        }
    }
    return String(decoding: shown, as: UTF16.self)
}

/// Numbers without gaps, one end, and the renderer's invariant.
func expectWhole(_ events: [TurnEvent], sourceLocation: SourceLocation = #_sourceLocation) throws {
    try #require(!events.isEmpty, sourceLocation: sourceLocation)
    let numbers = events.map(\.seq)
    #expect(numbers == Array(1...Int64(events.count)), sourceLocation: sourceLocation)
    #expect(events.filter(\.isLast) == [events[events.count - 1]], sourceLocation: sourceLocation)
    if let answer = events.last?.kind.answer {
        #expect(
            Array(answer.text.utf8) == Array(rendered(events).utf8), sourceLocation: sourceLocation)
    }
}
