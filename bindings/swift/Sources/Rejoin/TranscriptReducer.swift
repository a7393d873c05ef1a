import RejoinBindings

/// Folds events into a ``Transcript``, for code that has no sequence.
///
/// A value: a copy goes its own way. Events that come twice (a replay from an older cursor) change
/// nothing.
public struct TranscriptReducer: Sendable {
    private let presentation: Presentation
    private var state = Transcript()
    /// Lengths are in UTF-16, as in `Reset`. Counted along: Swift's strings are UTF-8 and would
    /// count anew each time.
    private var answerUtf16 = 0
    private var held: (text: String, utf16: Int)?
    private var waitMs: Int64?

    /// Starts before the first event.
    public init(_ presentation: Presentation = .replace) { self.presentation = presentation }

    /// Takes the next event. One that has been taken before changes nothing.
    public mutating func apply(_ event: TurnEvent) {
        guard event.seq > state.cursor else { return }
        state.cursor = event.seq
        state.attempt = Int(event.attempt)
        switch event.kind {
        case .attemptStarted(let strategy): started(strategy)
        case .text(let text):
            state.answer += text
            answerUtf16 += text.utf16.count
            state.status = .answering
        case .thought(let text):
            state.thoughts += text
            state.status = .thinking
        case .toolSeen(let name):
            state.pendingTools.append(name)
            state.status = .callingTool
        case .part(let part):
            state.parts.append(part)
            state.status = .answering
        case .dropped(_, _, _, _, _, _, let decision):
            if decision.strategy != nil { state.status = .reconnecting }
        case .waiting(_, let forMs, let why):
            waitMs = forMs
            state.status = why == .offline ? .offline : .waiting
        case .reset(
            let keepUtf16, _, let keepThoughtUtf16, let keepTools, let keepParts, let reason):
            reset(keepUtf16: Int(keepUtf16), reason)
            _ = state.thoughts.cut(keepingUtf16: Int(keepThoughtUtf16))
            state.pendingTools.keepFirst(Int(keepTools))
            state.parts.keepFirst(Int(keepParts))
        case .completed(let answer):
            state.answer = answer.text
            state.completed = answer
            over(.completed)
        case .failed(let failure):
            state.failure = failure
            over(.failed)
        }
        if let held, answerUtf16 >= held.utf16 { self.held = nil }
    }

    /// The state after the events so far.
    public var current: Transcript {
        var current = state
        current.text = state.failure?.partialText ?? held?.text ?? state.answer
        current.holding = held != nil
        current.statusLine = Transcript.line(
            state.status, tool: state.pendingTools.last, waitMs: waitMs, completed: state.completed,
            failure: state.failure)
        return current
    }

    private mutating func started(_ strategy: Strategy) {
        if strategy == .initial {
            state.status = .starting
        } else if state.status == .waiting || state.status == .offline {
            state.status = .reconnecting
        }
    }

    private mutating func reset(keepUtf16: Int, _ reason: ResetReason) {
        let before = (text: state.answer, utf16: answerUtf16)
        let dropped = state.answer.cut(keepingUtf16: keepUtf16)
        answerUtf16 = min(keepUtf16, answerUtf16)
        let note = ResetNote(
            attempt: state.attempt, atUtf16: answerUtf16, dropped: dropped, reason: reason)
        state.lastReset = note
        switch presentation {
        case .replace: break
        case .hold: if held == nil, answerUtf16 < before.utf16 { held = before }
        case .annotate:
            // Notes in text that is gone have no place any more.
            state.notes.removeAll { $0.atUtf16 > note.atUtf16 }
            state.notes.append(note)
        }
    }

    private mutating func over(_ end: TurnStatus) {
        state.status = end
        held = nil
        state.pendingTools = []
    }
}

extension String {
    /// Keeps so many UTF-16 code units and returns the rest. By scalars: a reset may part what
    /// Swift, looking at the whole, takes for one character.
    fileprivate mutating func cut(keepingUtf16 keep: Int) -> String {
        guard let index = utf16.index(startIndex, offsetBy: keep, limitedBy: endIndex) else {
            return ""
        }
        let rest = String(unicodeScalars[index...])
        unicodeScalars.removeSubrange(index...)
        return rest
    }
}

extension Array {
    fileprivate mutating func keepFirst(_ count: Int) {
        if self.count > count { removeLast(self.count - Swift.max(0, count)) }
    }
}
