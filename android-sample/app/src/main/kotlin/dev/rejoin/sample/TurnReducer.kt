package dev.rejoin.sample

import dev.rejoin.AttemptReport
import dev.rejoin.EventKind
import dev.rejoin.Presentation
import dev.rejoin.ResetNote
import dev.rejoin.TranscriptReducer
import dev.rejoin.TurnEvent

/**
 * Folds the events of a turn into a [TurnScreen]. Knows neither Android nor a clock, so that a
 * recorded turn gives the same screens in a plain unit test.
 *
 * Text is gathered in place and copied only by [current]: once per frame, not once per event.
 * Not safe for several threads at once.
 */
class TurnReducer(presentation: Presentation) {
    private val transcript = TranscriptReducer(presentation)
    private val attempts = mutableListOf<AttemptRow>()
    private val resets = mutableListOf<ResetNote>()
    private var drop: Drop? = null
    private var wait: Wait? = null

    /** The number of the last event taken: where to read on after a rotation. */
    var cursor = 0L
        private set

    /** Takes the next event; [now] dates a pause. One that was taken before changes nothing. */
    fun apply(event: TurnEvent, now: Long) {
        if (event.seq <= cursor) return
        cursor = event.seq
        transcript.apply(event)
        when (val kind = event.kind) {
            is EventKind.AttemptStarted -> {
                attempts += AttemptRow(event.attempt, kind.strategy)
                wait = null
            }
            is EventKind.Dropped -> dropped(event.attempt, kind)
            is EventKind.Waiting -> wait = Wait(kind.nextAttempt, kind.forMs, kind.why, now)
            is EventKind.Reset -> transcript.current().lastReset?.let { resets += it }
            is EventKind.Completed -> over(kind.answer.attempts)
            is EventKind.Failed -> over(kind.failure.attempts)
            else -> Unit
        }
    }

    /** The screen after the events so far. */
    fun current() =
        TurnScreen(transcript.current(), attempts.toList(), drop, wait, resets.toList())

    private fun dropped(attempt: Int, kind: EventKind.Dropped) {
        val seen = Drop(
            attempt, kind.cause, kind.httpStatus, kind.committedTokens, kind.exact, kind.decision,
        )
        drop = seen
        attempts.replaceAll { if (it.attempt == attempt) it.copy(drop = seen) else it }
    }

    private fun over(reports: List<AttemptReport>) {
        wait = null
        attempts.replaceAll { row ->
            row.copy(report = reports.firstOrNull { it.attempt == row.attempt })
        }
    }
}
