import Foundation
import RejoinBindings

extension RejoinClient {
    /// A client for an app's own unit tests: plays `script` for each turn, with no network and
    /// without calling the native library.
    ///
    /// ```swift
    /// let client = RejoinClient.fake { script in
    ///     script.text("Rivers run to th")
    ///     script.drop(.reset)
    ///     script.text("Rivers run to the sea.")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - clock: lets the script's pauses pass. Give a clock of your own to skip them.
    ///   - script: says what a turn does. It runs when the turn starts.
    public static func fake(
        clock: any Clock<Duration> = ContinuousClock(),
        _ script: @escaping @Sendable (FakeScript) -> Void
    ) -> RejoinClient {
        RejoinClient(
            starting: { request in
                let id = request.turnId ?? "fake-\(UUID().uuidString)"
                let steps = FakeScript(request: request, turnId: id)
                script(steps)
                return FakeTurnSource(id: id, steps: steps.whole(), clock: clock)
            },
            spending: {
                Spend(
                    inputTokens: 0, cachedTokens: 0, outputTokens: 0, money: nil, lowerBound: false)
            })
    }
}

/// What a fake turn does, step by step: the events come as the real client would send them, with
/// numbers, attempts and resets in place. A script without an end completes by itself.
///
/// A step that makes no sense, such as one after the end, stops the test (`preconditionFailure`).
public final class FakeScript {
    struct Step: Sendable {
        let pause: Duration
        let event: TurnEvent
    }

    /// What the app asked.
    public let request: TurnRequest
    private let turnId: String
    private var steps: [Step] = []
    private var text = ""
    private var longest = ""
    private var calls: [ToolCall] = []
    private var attempts: [AttemptReport] = []
    private var pause = Duration.zero
    private var attempt: Int32 = 1
    private var strategy = Strategy.initial
    private var over = false

    init(request: TurnRequest, turnId: String) {
        self.request = request
        self.turnId = turnId
        event(.attemptStarted(strategy: .initial))
    }

    /// Lets time pass before the next step.
    public func pause(_ duration: Duration) { pause += duration }

    /// A piece of the answer.
    public func text(_ piece: String) {
        text += piece
        if text.utf16.count > longest.utf16.count { longest = text }
        event(.text(text: piece))
    }

    /// A piece of the thinking summary.
    public func thought(_ piece: String) { event(.thought(text: piece)) }

    /// Any other part, a JSON object.
    public func part(_ json: String) { event(.part(part: json)) }

    /// A tool call: seen now, to be run when the turn completes. Its effect key is made up.
    public func tool(_ name: String, args: String = "{}", providerId: String? = nil) {
        let ordinal = calls.filter { $0.name == name && $0.args == args }.count
        let readOnly = request.tools.contains { $0.name == name && $0.readOnly }
        calls.append(
            ToolCall(
                name: name, args: args, effectKey: "fake-\(turnId)-\(name)-\(args)-\(ordinal)",
                ordinal: Int32(ordinal), step: request.step, providerId: providerId,
                readOnly: readOnly))
        event(.toolSeen(name: name))
    }

    /// The connection drops, and the next attempt begins with `keep` of the text, which has to be a
    /// prefix of what is shown. By default nothing stays.
    public func drop(_ cause: Cause = .reset, keep: String = "", strategy next: Strategy? = nil) {
        precondition(
            text.utf8.starts(with: keep.utf8), "«\(keep)» is not what is shown: «\(text)»")
        let next = next ?? (keep.isEmpty ? .restart : .continue)
        report(.dropped, cause)
        event(
            .dropped(
                cause: cause, detail: nil, httpStatus: nil, receivedTokens: 0, committedTokens: 0,
                exact: false,
                decision: Decision(
                    strategy: next,
                    reasons: [keep.isEmpty ? .belowThreshold : .freeTextAboveThreshold])))
        attempt += 1
        strategy = next
        text = keep
        calls = []
        event(
            .reset(
                keepUtf16: Int64(keep.utf16.count), keepTextBytes: Int64(keep.utf8.count),
                keepThoughtUtf16: 0,
                keepTools: 0, keepParts: 0, reason: .dropped(cause: cause)))
        event(.attemptStarted(strategy: next))
    }

    /// The turn pauses: tells of a wait and, unless `duration` is nil, lets it pass.
    public func waiting(_ why: WaitReason, for duration: Duration? = nil) {
        let ms = duration.map {
            $0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000
        }
        event(.waiting(nextAttempt: attempt + 1, forMs: ms, why: why))
        if let duration { pause(duration) }
    }

    /// The turn is over and whole.
    public func complete(_ finish: FinishClass = .complete, reason: String = "STOP") {
        report(.completed, nil)
        let parts =
            [#"{"text":\#(jsonString(text))}"#]
            + calls.map { #"{"functionCall":{"name":\#(jsonString($0.name)),"args":\#($0.args)}}"# }
        event(
            .completed(
                answer: Answer(
                    text: text, finish: Finish(class: finish, reason: reason),
                    toolCalls: finish == .complete ? calls : [],
                    history: [#"{"role":"model","parts":[\#(parts.joined(separator: ","))]}"#],
                    attempts: attempts)))
        over = true
    }

    /// The turn is over and not whole.
    public func fail(_ kind: ErrorKind, details: String? = nil, httpStatus: Int? = nil) {
        report(.failed, nil)
        event(
            .failed(
                failure: Failure(
                    kind: kind, reason: "\(kind)",
                    httpStatus: httpStatus.map(Int32.init(clamping:)), details: details,
                    partialText: longest, attempts: attempts)))
        over = true
    }

    /// Any event, for what the steps above do not cover.
    public func event(_ kind: EventKind) {
        precondition(!over, "nothing can follow the end of the turn")
        let event = TurnEvent(
            turn: turnId, seq: Int64(steps.count + 1), attempt: attempt, kind: kind)
        steps.append(Step(pause: pause, event: event))
        pause = .zero
    }

    func whole() -> [Step] {
        if !over { complete() }
        return steps
    }

    private func report(_ outcome: Outcome, _ cause: Cause?) {
        let usage = Usage(
            billing: .unknown, promptTokens: nil, cachedTokens: nil, candidatesTokens: nil,
            thoughtsTokens: nil,
            toolPromptTokens: nil, totalTokens: nil)
        attempts.append(
            AttemptReport(
                attempt: attempt, strategy: strategy, outcome: outcome, cause: cause,
                httpStatus: nil,
                receivedTokens: 0, usage: usage, waitedMs: 0, tookMs: 0))
    }
}

/// Plays steps. Whoever reads first lets their time pass; all readers see one log.
final class FakeTurnSource: TurnSource {
    private struct State {
        var log: [TurnEvent] = []
        var coming: ArraySlice<FakeScript.Step>
        var isOver: Bool { log.last?.isLast ?? false }
    }

    let id: String
    /// No pacing: a test sees each event by itself.
    let frame = Duration.zero
    private let clock: any Clock<Duration>
    private let state: Locked<State>
    private let forEnd = Waiters()

    init(id: String, steps: [FakeScript.Step], clock: any Clock<Duration>) {
        self.id = id
        self.clock = clock
        state = Locked(State(coming: steps[...]))
    }

    var isOver: Bool { state.with { $0.isOver } }

    func soFar(after cursor: Int64) -> EventBatch {
        state.with { state in
            let index = Int(max(0, cursor))
            let events = index < state.log.count ? [state.log[index]] : []
            let next = Int64(index + events.count)
            return EventBatch(
                events: events, nextCursor: next,
                finished: state.isOver && next >= Int64(state.log.count))
        }
    }

    func next(after cursor: Int64) async throws -> EventBatch {
        try await reveal(after: cursor)
        return soFar(after: cursor)
    }

    /// Waits for the next step and puts it into the log, unless there are events after the cursor
    /// already.
    private func reveal(after cursor: Int64) async throws {
        let step = state.with { $0.log.count > Int(cursor) ? nil : $0.coming.first }
        guard let step else { return }
        if step.pause > .zero { try await pass(step.pause) }
        let ended = state.with { state in
            guard let first = state.coming.first, first.event.seq == step.event.seq else {
                return false
            }
            state.coming.removeFirst()
            state.log.append(first.event)
            return first.event.isLast
        }
        if ended { forEnd.wake() }
    }

    func waitUntilOver() async throws {
        while !isOver, !Task.isCancelled {
            try await reveal(after: state.with { Int64($0.log.count) })
        }
    }

    func lastEvent() -> TurnEvent? { state.with { $0.log.last } }

    func signal(_ signal: Signal) {}

    func cancel() {
        state.with { state in
            guard !state.isOver else { return }
            state.coming = []
            let failure = Failure(
                kind: .cancelled, reason: "cancelled", httpStatus: nil, details: nil,
                partialText: shown(state.log).text, attempts: [])
            state.log.append(
                TurnEvent(
                    turn: id, seq: Int64(state.log.count + 1),
                    attempt: state.log.last?.attempt ?? 1,
                    kind: .failed(failure: failure)))
        }
        forEnd.wake()
    }

    func dropLog() -> [String] { [] }

    func recording() -> String? { nil }

    func snapshot() -> Snapshot {
        let log = state.with { $0.log }
        let shown = shown(log)
        let strategies: [Strategy] = log.compactMap {
            if case .attemptStarted(let strategy) = $0.kind { strategy } else { nil }
        }
        return Snapshot(
            turn: id, cursor: Int64(log.count), attempt: Int32(shown.attempt),
            strategy: strategies.last,
            text: shown.answer, thoughts: shown.thoughts, toolsSeen: shown.pendingTools,
            parts: shown.parts,
            lastReset: shown.lastReset.map {
                SnapshotReset(
                    attempt: Int32($0.attempt), keepUtf16: Int64($0.atUtf16), reason: $0.reason)
            },
            lastEvent: log.last, finished: log.last?.isLast ?? false)
    }

    private func shown(_ log: [TurnEvent]) -> Transcript {
        var reducer = TranscriptReducer()
        for event in log { reducer.apply(event) }
        return reducer.current
    }

    /// Lets time pass, unless the turn ends or the task is cancelled first.
    private func pass(_ duration: Duration) async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [clock] in try? await clock.sleep(for: duration) }
            group.addTask { [forEnd, state] in await forEnd.wait { !state.with { $0.isOver } } }
            await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }
}
