package dev.rejoin

/** What to show while a retry replaces text that the user has already read. */
enum class Presentation {
    /** The screen follows every reset at once: text that a retry threw away disappears. */
    REPLACE,

    /**
     * Text that was thrown away stays until the new text has caught up with its length, or the
     * turn is over. The screen never shrinks while the user reads.
     */
    HOLD,

    /** As [REPLACE], and every reset leaves a [ResetNote] in [Transcript.notes] to draw there. */
    ANNOTATE,
}

/** What a turn is busy with, in terms of a screen. */
enum class TurnStatus {
    /** The request is on its way; nothing has come yet. */
    STARTING,

    /** The model thinks. */
    THINKING,

    /** The answer comes in. */
    ANSWERING,

    /** A tool call has been seen and is held. */
    CALLING_TOOL,

    /** The connection broke, and the next attempt is on its way. */
    RECONNECTING,

    /** A pause before the next attempt. */
    WAITING,

    /** There is no network: the turn goes on by itself when there is one. */
    OFFLINE,

    /** Over and whole. */
    COMPLETED,

    /** Over and not whole. */
    FAILED,
}

/**
 * A place where a retry began.
 *
 * @property attempt the attempt that began there.
 * @property atUtf16 where in [Transcript.text], in UTF-16 code units: an index into the string.
 * @property dropped the text that was thrown away there; empty where all was kept.
 * @property reason what led to it.
 */
data class ResetNote(
    val attempt: Int,
    val atUtf16: Int,
    val dropped: String,
    val reason: ResetReason,
)

/**
 * What a screen shows of a turn, as one immutable value.
 *
 * @property text the answer to draw, by the chosen [Presentation]. A turn that failed shows the
 *   longest text that it has shown at any time.
 * @property answer the answer exactly as the events make it, whatever the presentation.
 * @property holding true while [text] is held although [answer] is shorter.
 * @property thoughts the thinking summary: a channel of its own.
 * @property pendingTools names of the calls seen and held, in order; show a spinner, run nothing.
 * @property parts other parts (images, executed code), each a JSON object.
 * @property status what the turn is busy with.
 * @property statusLine the same as a line in English; absent while the answer speaks for itself.
 *   Build your own from [status] where another language is needed.
 * @property lastReset the last reset, if there was one.
 * @property notes with [Presentation.ANNOTATE] the resets whose places are still there, in order.
 * @property attempt the running or last attempt, from 1; 0 before the first event.
 * @property cursor the number of the last event that this state includes.
 * @property completed the whole answer, once the turn is over and whole.
 * @property failure why the turn failed, if it did.
 */
data class Transcript(
    val text: String = "",
    val answer: String = "",
    val holding: Boolean = false,
    val thoughts: String = "",
    val pendingTools: List<String> = emptyList(),
    val parts: List<String> = emptyList(),
    val status: TurnStatus = TurnStatus.STARTING,
    val statusLine: String? = statusLineOf(TurnStatus.STARTING),
    val lastReset: ResetNote? = null,
    val notes: List<ResetNote> = emptyList(),
    val attempt: Int = 0,
    val cursor: Long = 0,
    val completed: Answer? = null,
    val failure: Failure? = null,
) {
    /** True if the turn is over. */
    val finished: Boolean get() = completed != null || failure != null
}

internal fun statusLineOf(
    status: TurnStatus,
    tool: String? = null,
    waitMs: Long? = null,
    completed: Answer? = null,
    failure: Failure? = null,
): String? = when (status) {
    TurnStatus.STARTING -> "Waiting for the answer…"
    TurnStatus.THINKING -> "Thinking…"
    TurnStatus.ANSWERING -> null
    TurnStatus.CALLING_TOOL -> "Preparing ${tool.orEmpty()}…"
    TurnStatus.RECONNECTING -> "Interrupted. Picking up again…"
    TurnStatus.WAITING ->
        if (waitMs == null) "Trying again soon…" else "Trying again in ${(waitMs + 999) / 1000} s…"
    TurnStatus.OFFLINE -> "Offline. Waiting for a network…"
    TurnStatus.COMPLETED -> when (completed?.finish?.`class`) {
        FinishClass.TRUNCATED -> "The answer was cut at its length limit."
        FinishClass.POLICY -> "The answer was stopped by a policy of the service."
        else -> null
    }
    TurnStatus.FAILED -> when (failure?.kind) {
        ErrorKind.CANCELLED -> "Stopped."
        ErrorKind.UNREACHABLE -> "The server cannot be reached."
        ErrorKind.ATTEMPTS_USED_UP -> "The connection does not hold."
        ErrorKind.QUOTA_EXHAUSTED -> "The quota is used up."
        ErrorKind.BLOCKED -> "The request was blocked."
        else -> "Something went wrong."
    }
}
