package dev.rejoin

import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.FlowCollector
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.withTimeoutOrNull

/** Where the events of one turn are read from. Reading consumes nothing. */
internal interface EventLog {
    /** Waits for events after [cursor], or for the end. */
    suspend fun after(cursor: Long, max: Int): EventBatch

    /** What is there already. */
    fun soFar(cursor: Long, max: Int): EventBatch

    suspend fun untilOver()
}

/** Events that come in batches: a reader of batches, such as [transcript], does less work. */
internal class EventFlow(val batches: Flow<List<TurnEvent>>) : Flow<TurnEvent> {
    private val events = flow { batches.collect { batch -> batch.forEach { emit(it) } } }

    override suspend fun collect(collector: FlowCollector<TurnEvent>) = events.collect(collector)
}

/** One frame of a screen with 60 Hz: more reads than that show nothing more. */
private val FRAME: Duration = (1_000_000_000L / 60).nanoseconds

/** So many empty frames in a row, and the stream counts as quiet. */
private const val QUIET_FRAMES = 3

/** Bounds the memory of one read; a backlog longer than this takes several. */
internal const val MOST_AT_ONCE = 4096

/**
 * Reads the log at most once per frame, whatever the event rate.
 *
 * While events flow, each frame costs one plain call, which never waits. Once they stop, one
 * waiting call stands until the next event, which is therefore never late; nor is the first one.
 * Nor is the last one: the pause until the next frame ends early when the turn is over.
 */
internal fun pacedBatches(log: EventLog, after: Long): Flow<List<TurnEvent>> = flow {
    coroutineScope {
        val over = async(start = CoroutineStart.UNDISPATCHED) { log.untilOver() }
        var cursor = after
        var empty = QUIET_FRAMES
        while (true) {
            val start = System.nanoTime()
            val batch =
                if (empty >= QUIET_FRAMES) log.after(cursor, MOST_AT_ONCE) else log.soFar(cursor, MOST_AT_ONCE)
            // A read that waited has begun its frame when it returned.
            val read = if (empty >= QUIET_FRAMES) System.nanoTime() else start
            empty = if (batch.events.isEmpty()) empty + 1 else 0
            cursor = batch.nextCursor
            if (batch.events.isNotEmpty()) emit(batch.events)
            if (batch.finished) {
                if (batch.events.lastOrNull()?.isLast == false || cursor == 0L) throw broken()
                break
            }
            if (batch.events.size < MOST_AT_ONCE && !over.isCompleted) {
                val rest = FRAME - (System.nanoTime() - read).nanoseconds
                if (rest.isPositive()) withTimeoutOrNull(rest) { over.await() }
            }
        }
        over.cancel()
    }
}

internal fun broken(): RejoinException =
    RejoinException.Internal("the turn ended without its last event: please report this", null)
