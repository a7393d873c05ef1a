package dev.rejoin.sample

import android.content.res.Resources
import dev.rejoin.AttemptReport
import dev.rejoin.Billing
import dev.rejoin.Cause
import dev.rejoin.Decision
import dev.rejoin.ErrorKind
import dev.rejoin.FinishClass
import dev.rejoin.Outcome
import dev.rejoin.Reason
import dev.rejoin.ResetNote
import dev.rejoin.ResetReason
import dev.rejoin.Strategy
import dev.rejoin.TurnStatus
import dev.rejoin.WaitReason
import java.util.Locale

/** Rejoin's names in words for people, in one place, so that they can be translated. */
class Words(private val res: Resources) {
    fun badge(attempt: Int, strategy: Strategy) =
        res.getString(R.string.badge, attempt, strategy(strategy))

    fun strategy(strategy: Strategy) = res.getString(
        when (strategy) {
            Strategy.INITIAL -> R.string.strategy_initial
            Strategy.RESUME -> R.string.strategy_resume
            Strategy.RESTART -> R.string.strategy_restart
            Strategy.CONTINUE -> R.string.strategy_continue
            Strategy.NON_STREAMING -> R.string.strategy_non_streaming
        },
    )

    /** What happened and what follows: "The connection broke. Starting over." */
    fun headline(drop: Drop) = cause(drop.cause, drop.httpStatus) + " " + decision(drop.decision)

    fun cause(cause: Cause, httpStatus: Int?): String {
        if (cause == Cause.REFUSED && httpStatus != null) {
            return res.getString(R.string.cause_refused_status, httpStatus)
        }
        return res.getString(
            when (cause) {
                Cause.UNREACHABLE -> R.string.cause_unreachable
                Cause.REFUSED -> R.string.cause_refused
                Cause.CLOSED_EARLY -> R.string.cause_closed_early
                Cause.RESET -> R.string.cause_reset
                Cause.IDLE -> R.string.cause_idle
                Cause.FIRST_BYTE_TIMEOUT -> R.string.cause_first_byte_timeout
                Cause.SERVER_ERROR -> R.string.cause_server_error
                Cause.MALFORMED -> R.string.cause_malformed
                Cause.NOT_A_STREAM -> R.string.cause_not_a_stream
                Cause.TOO_LARGE -> R.string.cause_too_large
                Cause.EMPTY -> R.string.cause_empty
                Cause.MODEL_FAULT -> R.string.cause_model_fault
                Cause.SPLICED -> R.string.cause_spliced
                Cause.NETWORK_CHANGED -> R.string.cause_network_changed
                Cause.SUSPENDED -> R.string.cause_suspended
            },
        )
    }

    private fun decision(decision: Decision) = res.getString(
        when (decision.strategy) {
            Strategy.RESUME -> R.string.decision_resume
            Strategy.RESTART, Strategy.INITIAL -> R.string.decision_restart
            Strategy.CONTINUE -> R.string.decision_continue
            Strategy.NON_STREAMING -> R.string.decision_non_streaming
            null -> R.string.decision_fail
        },
    )

    /**
     * Why: "23 tokens to build on (measured) · a tool call was seen". Nothing where no answer had
     * begun: then there was nothing to decide by.
     */
    fun why(drop: Drop): String? {
        if (drop.cause == Cause.REFUSED || drop.cause == Cause.UNREACHABLE) return null
        val exact = res.getString(if (drop.exact) R.string.measured else R.string.estimated)
        val reasons = drop.decision.reasons.joinToString(", ") { reason(it) }
        return res.getString(R.string.in_hand, tokens(drop.inHand), exact, reasons)
    }

    private fun reason(reason: Reason) = res.getString(
        when (reason) {
            Reason.CANCELLED -> R.string.reason_cancelled
            Reason.NOT_RETRYABLE -> R.string.reason_not_retryable
            Reason.MODEL_FAULT_REPEATED -> R.string.reason_model_fault_repeated
            Reason.ATTEMPTS_USED_UP -> R.string.reason_attempts_used_up
            Reason.UNSENT_USED_UP -> R.string.reason_unsent_used_up
            Reason.SPEND_USED_UP -> R.string.reason_spend_used_up
            Reason.SECOND_DROP -> R.string.reason_second_drop
            Reason.CONTINUATION_TOKEN -> R.string.reason_continuation_token
            Reason.RESUME_REFUSED -> R.string.reason_resume_refused
            Reason.SCHEMA -> R.string.reason_schema
            Reason.TOOL_SEEN -> R.string.reason_tool_seen
            Reason.CODE_SEEN -> R.string.reason_code_seen
            Reason.MEDIA_SEEN -> R.string.reason_media_seen
            Reason.GROUNDING_SEEN -> R.string.reason_grounding_seen
            Reason.FORCED_TOOLS -> R.string.reason_forced_tools
            Reason.DEEP_THINKING -> R.string.reason_deep_thinking
            Reason.MODEL_FAULT -> R.string.reason_model_fault
            Reason.CONTINUATION_REFUSED -> R.string.reason_continuation_refused
            Reason.CONTINUATION_EMPTY -> R.string.reason_continuation_empty
            Reason.NO_CHECKPOINT -> R.string.reason_no_checkpoint
            Reason.BELOW_THRESHOLD -> R.string.reason_below_threshold
            Reason.FREE_TEXT_ABOVE_THRESHOLD -> R.string.reason_free_text
        },
    )

    /** What a reset did to the text. */
    fun reset(reset: ResetNote): String {
        val took = reset.dropped.length
        val what = when {
            took == 0 && reset.atUtf16 == 0 -> res.getString(R.string.reset_nothing)
            took == 0 -> res.getString(R.string.reset_kept_all)
            reset.atUtf16 == 0 -> res.getString(R.string.reset_took_all, characters(took))
            else ->
                res.getString(R.string.reset_took, characters(reset.atUtf16), characters(took))
        }
        if (reset.reason != ResetReason.AnswerRestarted) return what
        return res.getString(R.string.reset_anew) + " " + what
    }

    fun waiting(why: WaitReason) = res.getString(
        when (why) {
            WaitReason.BACKOFF -> R.string.wait_backoff
            WaitReason.SERVER_ASKED -> R.string.wait_server_asked
            WaitReason.OFFLINE -> R.string.wait_offline
        },
    )

    fun error(kind: ErrorKind) = res.getString(
        when (kind) {
            ErrorKind.CANCELLED -> R.string.error_cancelled
            ErrorKind.BAD_REQUEST -> R.string.error_bad_request
            ErrorKind.UNAUTHORIZED -> R.string.error_unauthorized
            ErrorKind.FORBIDDEN -> R.string.error_forbidden
            ErrorKind.NOT_FOUND -> R.string.error_not_found
            ErrorKind.QUOTA_EXHAUSTED -> R.string.error_quota_exhausted
            ErrorKind.BLOCKED -> R.string.error_blocked
            ErrorKind.ATTEMPTS_USED_UP -> R.string.error_attempts_used_up
            ErrorKind.UNREACHABLE -> R.string.error_unreachable
            ErrorKind.SPEND_USED_UP -> R.string.error_spend_used_up
            ErrorKind.INVALID_ARGUMENT -> R.string.error_invalid_argument
            ErrorKind.INTERNAL -> R.string.error_internal
        },
    )

    /** What the turn is busy with, where no drop has to be told of. */
    fun status(screen: TurnScreen): String {
        val shown = screen.transcript
        return when (shown.status) {
            TurnStatus.STARTING -> res.getString(R.string.status_starting)
            TurnStatus.THINKING -> res.getString(R.string.status_thinking)
            TurnStatus.COMPLETED -> completed(screen)
            TurnStatus.FAILED -> shown.failure?.let { error(it.kind) }.orEmpty()
            else -> res.getString(R.string.status_answering)
        }
    }

    private fun completed(screen: TurnScreen): String =
        when (screen.transcript.completed?.finish?.`class`) {
            FinishClass.TRUNCATED -> res.getString(R.string.status_truncated)
            FinishClass.POLICY -> res.getString(R.string.status_policy)
            else -> {
                val count = screen.attempts.size
                if (count < 2) res.getString(R.string.status_done)
                else res.getString(R.string.status_done_after, attempts(count))
            }
        }

    fun attempts(count: Int): String = res.getQuantityString(R.plurals.attempts, count, count)

    /** How an attempt ended: its cause, or that it was whole. */
    fun ended(row: AttemptRow): String {
        row.drop?.let { return cause(it.cause, it.httpStatus) }
        val report = row.report ?: return res.getString(R.string.row_running)
        report.cause?.let { return cause(it, report.httpStatus) }
        return when (report.outcome) {
            Outcome.COMPLETED -> res.getString(R.string.row_whole)
            Outcome.CONTINUED -> res.getString(R.string.row_hop)
            Outcome.CANCELLED -> res.getString(R.string.row_cancelled)
            Outcome.DROPPED, Outcome.FAILED -> res.getString(R.string.error_internal)
        }
    }

    /** What an attempt cost, as far as it is known, and how long it took. */
    fun cost(report: AttemptReport?): String {
        if (report == null) return res.getString(R.string.bill_open)
        val usage = report.usage
        val counts = res.getString(
            R.string.bill_tokens, usage.promptTokens ?: 0,
            (usage.candidatesTokens ?: 0) + (usage.thoughtsTokens ?: 0),
        )
        val bill = when (usage.billing) {
            Billing.KNOWN -> res.getString(R.string.bill_known, counts)
            Billing.LOWER_BOUND -> res.getString(R.string.bill_lower_bound, counts)
            Billing.UNKNOWN -> res.getString(R.string.bill_unknown)
            Billing.NOT_BILLED -> res.getString(R.string.bill_not_billed)
            Billing.NOT_SENT -> res.getString(R.string.bill_not_sent)
        }
        val seconds = String.format(Locale.getDefault(), "%.1f", report.tookMs / 1000.0)
        return bill + " · " + res.getString(R.string.row_took, seconds)
    }

    private fun tokens(count: Long) =
        res.getQuantityString(R.plurals.tokens, count.toInt(), count.toInt())

    private fun characters(count: Int) = res.getQuantityString(R.plurals.characters, count, count)
}
