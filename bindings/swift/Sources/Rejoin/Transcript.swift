import RejoinBindings

/// What to show while a retry replaces text that the user has already read.
public enum Presentation: String, Sendable, Hashable, CaseIterable {
    /// The screen follows every reset at once: text that a retry threw away disappears.
    case replace

    /// Text that was thrown away stays until the new text has caught up with its length, or the
    /// turn is over. The screen never shrinks while the user reads.
    case hold

    /// As ``replace``, and every reset leaves a ``ResetNote`` in ``Transcript/notes`` to draw
    /// there.
    case annotate
}

/// What a turn is busy with, in terms of a screen.
public enum TurnStatus: Sendable, Hashable, CaseIterable {
    /// The request is on its way; nothing has come yet.
    case starting
    /// The model thinks.
    case thinking
    /// The answer comes in.
    case answering
    /// A tool call has been seen and is held.
    case callingTool
    /// The connection broke, and the next attempt is on its way.
    case reconnecting
    /// A pause before the next attempt.
    case waiting
    /// There is no network: the turn goes on by itself when there is one.
    case offline
    /// Over and whole.
    case completed
    /// Over and not whole.
    case failed
}

/// A place where a retry began.
public struct ResetNote: Sendable, Hashable {
    /// The attempt that began there.
    public let attempt: Int
    /// Where in ``Transcript/text``, in UTF-16 code units: `String.Index(utf16Offset: note.atUtf16,
    /// in: text)`.
    public let atUtf16: Int
    /// The text that was thrown away there; empty where all was kept.
    public let dropped: String
    /// What led to it.
    public let reason: ResetReason
}

/// What a screen shows of a turn, as one immutable value. Made by ``TurnEvents/transcript(_:)`` or
/// a ``TranscriptReducer``.
public struct Transcript: Sendable, Hashable {
    /// The answer to draw, by the chosen ``Presentation``. A turn that failed shows the longest
    /// text that it has shown at any time.
    public internal(set) var text = ""
    /// The answer exactly as the events make it, whatever the presentation.
    public internal(set) var answer = ""
    /// True while ``text`` is held although ``answer`` is shorter.
    public internal(set) var holding = false
    /// The thinking summary: a channel of its own.
    public internal(set) var thoughts = ""
    /// Names of the calls seen and held, in order; show a spinner, run nothing.
    public internal(set) var pendingTools: [String] = []
    /// Other parts (images, executed code), each a JSON object.
    public internal(set) var parts: [String] = []
    /// What the turn is busy with.
    public internal(set) var status = TurnStatus.starting
    /// The same as a line in English; absent while the answer speaks for itself. Build your own
    /// from ``status`` where another language is needed.
    public internal(set) var statusLine: String?
    /// The last reset, if there was one.
    public internal(set) var lastReset: ResetNote?
    /// With ``Presentation/annotate`` the resets whose places are still there, in order.
    public internal(set) var notes: [ResetNote] = []
    /// The running or last attempt, from 1; 0 before the first event.
    public internal(set) var attempt = 0
    /// The number of the last event that this state includes: read on with `turn.events(after:
    /// cursor)`.
    public internal(set) var cursor: Int64 = 0
    /// The whole answer, once the turn is over and whole.
    public internal(set) var completed: Answer?
    /// Why the turn failed, if it did.
    public internal(set) var failure: Failure?

    /// True if the turn is over.
    public var finished: Bool { completed != nil || failure != nil }

    /// The state before the first event.
    public init() { statusLine = Self.line(.starting) }

    static func line(
        _ status: TurnStatus, tool: String? = nil, waitMs: Int64? = nil, completed: Answer? = nil,
        failure: Failure? = nil
    ) -> String? {
        switch status {
        case .starting: "Waiting for the answer…"
        case .thinking: "Thinking…"
        case .answering: nil
        case .callingTool: "Preparing \(tool ?? "")…"
        case .reconnecting: "Interrupted. Picking up again…"
        case .waiting:
            waitMs.map { "Trying again in \(($0 + 999) / 1000) s…" } ?? "Trying again soon…"
        case .offline: "Offline. Waiting for a network…"
        case .completed:
            switch completed?.finish.class {
            case .truncated: "The answer was cut at its length limit."
            case .policy: "The answer was stopped by a policy of the service."
            default: nil
            }
        case .failed:
            switch failure?.kind {
            case .cancelled: "Stopped."
            case .unreachable: "The server cannot be reached."
            case .attemptsUsedUp: "The connection does not hold."
            case .quotaExhausted: "The quota is used up."
            case .blocked: "The request was blocked."
            default: "Something went wrong."
            }
        }
    }
}
