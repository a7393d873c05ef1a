package dev.rejoin.sample

import dev.rejoin.AttemptReport
import dev.rejoin.Cause
import dev.rejoin.Decision
import dev.rejoin.ResetNote
import dev.rejoin.Strategy
import dev.rejoin.Transcript
import dev.rejoin.WaitReason

/**
 * Everything a screen shows of one turn, as one immutable value: Rejoin's own [Transcript], and
 * around it what this sample makes visible of drops and attempts.
 *
 * @property attempts one row per request, oldest first.
 * @property drop the last drop, if there was one.
 * @property wait the pause that runs right now.
 * @property resets every reset, oldest first: how much stayed and what went.
 */
data class TurnScreen(
    val transcript: Transcript = Transcript(),
    val attempts: List<AttemptRow> = emptyList(),
    val drop: Drop? = null,
    val wait: Wait? = null,
    val resets: List<ResetNote> = emptyList(),
) {
    val finished: Boolean get() = transcript.finished
}

/** One request of the turn, in the timeline. [report] comes with the turn's last event. */
data class AttemptRow(
    val attempt: Int,
    val strategy: Strategy,
    val drop: Drop? = null,
    val report: AttemptReport? = null,
)

/**
 * Why an attempt ended without being whole, and what was decided.
 *
 * @property inHand R: output tokens of the committed text; [exact] if the server counted them.
 */
data class Drop(
    val attempt: Int,
    val cause: Cause,
    val httpStatus: Int?,
    val inHand: Long,
    val exact: Boolean,
    val decision: Decision,
)

/** A pause. [since] is on the clock that the reducer was given, so that a screen counts down. */
data class Wait(val nextAttempt: Int, val forMs: Long?, val why: WaitReason, val since: Long) {
    /** Whole seconds left at [now], rounded up; null where nobody knows. */
    fun secondsLeft(now: Long): Long? =
        forMs?.let { ((since + it - now).coerceAtLeast(0) + 999) / 1000 }
}
