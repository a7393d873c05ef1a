package dev.rejoin

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emitAll
import kotlinx.coroutines.flow.flow

/** The client over the native library. */
internal class NativeRejoinClient(private val native: NativeClient) : RejoinClient {
    override fun start(request: TurnRequest): NativeRejoinTurn =
        translating { NativeRejoinTurn(native.start(request)) }

    override fun stream(request: TurnRequest): Flow<TurnEvent> = EventFlow(
        flow {
            // `use` also closes on cancellation: that closes the socket.
            start(request).use { emitAll(it.batches(after = 0)) }
        },
    )
}

/**
 * A turn of the native library.
 *
 * Closing it cancels at once; its memory is freed when the last reader is gone, so that readers
 * at work still see how it ended.
 */
internal class NativeRejoinTurn(private val native: NativeTurn) : Turn {
    private val lock = Any()
    private var readers = 0
    private var closed = false

    override val id: String = translating { native.turnId() }

    override fun events(after: Long): Flow<TurnEvent> = EventFlow(batches(after))

    fun batches(after: Long): Flow<List<TurnEvent>> = flow {
        leased { emitAll(pacedBatches(NativeLog(native), after)) }
    }

    override suspend fun await(): Answer = leased {
        translating {
            native.untilOver()
            when (val last = native.snapshot().lastEvent?.kind) {
                is EventKind.Completed -> last.answer
                is EventKind.Failed -> throw RejoinException.of(last.failure)
                else -> throw broken()
            }
        }
    }

    override fun cancel() = unlessClosed { translating { native.cancel() } }

    override fun signal(signal: Signal) = unlessClosed { translating { native.signal(signal) } }

    override fun snapshot(): Snapshot = leased { translating { native.snapshot() } }

    override fun close() {
        val free = synchronized(lock) {
            if (closed) return
            closed = true
            try {
                native.cancel()
            } catch (_: CallException) {
                // Freeing the turn cancels it as well.
            }
            readers == 0
        }
        if (free) native.close()
    }

    private inline fun unlessClosed(call: () -> Unit) = synchronized(lock) { if (!closed) call() }

    private inline fun <T> leased(read: () -> T): T {
        synchronized(lock) {
            check(!closed) { "this turn is closed: collect and look before you close it" }
            readers += 1
        }
        try {
            return read()
        } finally {
            val free = synchronized(lock) {
                readers -= 1
                closed && readers == 0
            }
            if (free) native.close()
        }
    }
}

internal class NativeLog(private val native: NativeTurn) : EventLog {
    override suspend fun after(cursor: Long, max: Int): EventBatch =
        translating { native.eventsAfter(cursor, max) }

    override fun soFar(cursor: Long, max: Int): EventBatch =
        translating { native.eventsSoFar(cursor, max) }

    override suspend fun untilOver() = translating { native.untilOver() }
}
