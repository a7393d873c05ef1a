package dev.rejoin

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow

/**
 * The screen state after each event, as one immutable value.
 *
 * Cold; runs in the collector's context; cancellation is the upstream's. Events straight from a
 * client or a turn are taken in batches, so that there is one value per display frame at most.
 * Events that come twice (a replay from an older cursor) change nothing.
 */
fun Flow<TurnEvent>.transcript(
    presentation: Presentation = Presentation.REPLACE,
): Flow<Transcript> {
    val upstream = this
    return flow {
        val reducer = TranscriptReducer(presentation)
        if (upstream is EventFlow) {
            upstream.batches.collect { batch ->
                batch.forEach(reducer::apply)
                emit(reducer.current())
            }
        } else {
            upstream.collect { event ->
                reducer.apply(event)
                emit(reducer.current())
            }
        }
    }
}

/**
 * Folds events into a [Transcript], for code that has no flow. Not safe for several threads at
 * once.
 */
class TranscriptReducer(private val presentation: Presentation = Presentation.REPLACE) {
    private val answer = StringBuilder()
    private val thoughts = StringBuilder()
    private val tools = mutableListOf<String>()
    private val parts = mutableListOf<String>()
    private val notes = mutableListOf<ResetNote>()
    private var held: String? = null
    private var status = TurnStatus.STARTING
    private var waitMs: Long? = null
    private var lastReset: ResetNote? = null
    private var attempt = 0
    private var cursor = 0L
    private var completed: Answer? = null
    private var failure: Failure? = null

    /** Takes the next event. One that has been taken before changes nothing. */
    fun apply(event: TurnEvent) {
        if (event.seq <= cursor) return
        cursor = event.seq
        attempt = event.attempt
        when (val kind = event.kind) {
            is EventKind.AttemptStarted -> started(kind.strategy)
            is EventKind.Text -> {
                answer.append(kind.text)
                status = TurnStatus.ANSWERING
            }
            is EventKind.Thought -> {
                thoughts.append(kind.text)
                status = TurnStatus.THINKING
            }
            is EventKind.ToolSeen -> {
                tools.add(kind.name)
                status = TurnStatus.CALLING_TOOL
            }
            is EventKind.Part -> {
                parts.add(kind.part)
                status = TurnStatus.ANSWERING
            }
            is EventKind.Dropped ->
                if (kind.decision.strategy != null) status = TurnStatus.RECONNECTING
            is EventKind.Waiting -> {
                waitMs = kind.forMs
                status =
                    if (kind.why == WaitReason.OFFLINE) TurnStatus.OFFLINE else TurnStatus.WAITING
            }
            is EventKind.Reset -> reset(kind)
            is EventKind.Completed -> {
                answer.setLength(0)
                answer.append(kind.answer.text)
                completed = kind.answer
                over(TurnStatus.COMPLETED)
            }
            is EventKind.Failed -> {
                failure = kind.failure
                over(TurnStatus.FAILED)
            }
        }
        if (held?.let { answer.length >= it.length } == true) held = null
    }

    /** The state after the events so far. Costs a copy of the text. */
    fun current(): Transcript {
        val answer = answer.toString()
        return Transcript(
            text = failure?.partialText ?: held ?: answer,
            answer = answer,
            holding = held != null,
            thoughts = thoughts.toString(),
            pendingTools = tools.toList(),
            parts = parts.toList(),
            status = status,
            statusLine = statusLineOf(status, tools.lastOrNull(), waitMs, completed, failure),
            lastReset = lastReset,
            notes = notes.toList(),
            attempt = attempt,
            cursor = cursor,
            completed = completed,
            failure = failure,
        )
    }

    private fun started(strategy: Strategy) {
        if (strategy == Strategy.INITIAL) {
            status = TurnStatus.STARTING
        } else if (status == TurnStatus.WAITING || status == TurnStatus.OFFLINE) {
            status = TurnStatus.RECONNECTING
        }
    }

    private fun reset(reset: EventKind.Reset) {
        val keep = reset.keepUtf16.toInt().coerceAtMost(answer.length)
        val note = ResetNote(attempt, keep, answer.substring(keep), reset.reason)
        lastReset = note
        when (presentation) {
            Presentation.REPLACE -> Unit
            Presentation.HOLD -> if (held == null && keep < answer.length) held = answer.toString()
            Presentation.ANNOTATE -> {
                // Notes in text that is gone have no place any more.
                notes.removeAll { it.atUtf16 > keep }
                notes.add(note)
            }
        }
        answer.setLength(keep)
        thoughts.setLength(reset.keepThoughtUtf16.toInt().coerceAtMost(thoughts.length))
        tools.keepFirst(reset.keepTools)
        parts.keepFirst(reset.keepParts)
    }

    private fun over(end: TurnStatus) {
        status = end
        held = null
        tools.clear()
    }

    private fun MutableList<String>.keepFirst(count: Int) {
        while (size > count) removeAt(lastIndex)
    }
}
