import RejoinBindings

/// Pure helpers that are worth having without a turn. Each calls the native library, on the
/// caller's thread.
public enum RejoinHelpers {
    /// What would be kept if the connection dropped after `text`. Takes time in proportion to the
    /// text.
    public static func committedText(_ text: String) throws -> CommittedText {
        try translating { try RejoinBindings.committedText(text: text) }
    }

    /// How many tokens a Gemini model would have needed for `text`, estimated.
    public static func estimateTokens(_ text: String) throws -> Int {
        try Int(translating { try RejoinBindings.estimateTokens(text: text) })
    }

    /// The idempotency key of a tool call, 32 hex digits.
    ///
    /// - Parameters:
    ///   - args: a JSON object; the order and spelling of its members do not matter.
    ///   - ordinal: the call's number among equal ones, from 0.
    ///   - keyFields: the arguments that count; empty: all of them.
    /// - Throws: ``RejoinError`` of kind `.invalidArgument` if `args` is not JSON.
    public static func effectKey(
        turnId: String, name: String, args: String, ordinal: Int = 0, step: String? = nil,
        keyFields: [String] = []
    ) throws -> String {
        try translating {
            try RejoinBindings.effectKey(
                turn: turnId, name: name, args: args, ordinal: Int32(clamping: ordinal), step: step,
                keyFields: keyFields)
        }
    }

    /// The gate: what would follow a broken attempt.
    public static func decide(_ evidence: Evidence, policy: Policy? = nil) throws -> Decision {
        try translating { try RejoinBindings.decide(evidence: evidence, policy: policy) }
    }

    /// Every number of the policy with its default.
    public static func defaultPolicy() throws -> Policy {
        try translating { try RejoinBindings.defaultPolicy() }
    }
}
