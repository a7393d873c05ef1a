package dev.rejoin

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emitAll
import kotlinx.coroutines.flow.flow

/** The client over the native library. */
internal class NativeRejoinClient(private val native: NativeClient) : RejoinClient {
    override fun start(request: TurnRequest): NativeRejoinTurn =
        translating { NativeRejoinTurn(native.start(request)) }

    override fun spent(): Spend = translating { native.spent() }

    override fun restore(turnId: String, request: TurnRequest?): Turn =
        translating { NativeRejoinTurn(native.restore(turnId, request)) }

    override fun journaled(): List<JournaledTurn> = translating { native.journaled() }

    override fun forget(turnId: String) = translating { native.forget(turnId) }

    override fun stream(request: TurnRequest): Flow<TurnEvent> = EventFlow(
        flow {
            start(request).alone { emitAll(it.batches(after = 0)) }
        },
    )
}

/**
 * A turn of the native library.
 *
 * [close] cancels and frees nothing: whoever still reads, or only begins to, sees how the turn
 * ended. The generated code frees the memory once nobody holds this object any more.
 */
internal class NativeRejoinTurn(private val native: NativeTurn) : Turn {
    override val id: String = translating { native.turnId() }

    override fun events(after: Long): Flow<TurnEvent> = EventFlow(batches(after))

    fun batches(after: Long): Flow<List<TurnEvent>> = pacedBatches(NativeLog(native), after)

    override suspend fun await(): Answer = translating {
        native.untilOver()
        when (val last = native.snapshot().lastEvent?.kind) {
            is EventKind.Completed -> last.answer
            is EventKind.Failed -> throw RejoinException.of(last.failure)
            else -> throw broken()
        }
    }

    override fun cancel() = translating { native.cancel() }

    override fun signal(signal: Signal) = translating { native.signal(signal) }

    override fun networkChanged(metered: Boolean) = translating { native.networkChanged(metered) }

    override suspend fun willSuspend() = translating { native.willSuspend() }

    override val journalProblem: String? get() = translating { native.journalProblem() }

    override fun snapshot(): Snapshot = translating { native.snapshot() }

    override fun dropLog(): List<String> = translating { native.dropLog() }

    override fun recording(): String? = translating { native.recording() }

    /** For a turn that nobody else can hold: ends it, and frees it at once. */
    inline fun <T> alone(read: (NativeRejoinTurn) -> T): T = try {
        read(this)
    } finally {
        // Dropping the turn cancels it and closes its connection.
        native.close()
    }
}

internal class NativeLog(private val native: NativeTurn) : EventLog {
    override suspend fun after(cursor: Long, max: Int): EventBatch =
        translating { native.eventsAfter(cursor, max) }

    override fun soFar(cursor: Long, max: Int): EventBatch =
        translating { native.eventsSoFar(cursor, max) }

    override suspend fun untilOver() = translating { native.untilOver() }
}
