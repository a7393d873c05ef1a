package dev.rejoin

import kotlinx.coroutines.flow.Flow

/**
 * A running turn: one answer the user waits for. Safe to use from any thread.
 *
 * It belongs to whoever started it: keep it where the answer shall survive the screen (a
 * ViewModel), and [close] it there. A turn that nobody holds any more is cancelled when the
 * garbage collector finds it.
 */
interface Turn : AutoCloseable {
    /** The turn's id: the request's, or a random one. */
    val id: String

    /**
     * The events after the one with number [after]; 0 for all of them.
     *
     * Cold, and consumes nothing: it may be collected again and again, by several collectors at
     * once. A collector that was cancelled goes on from the [TurnEvent.seq] it handled last and
     * has lost nothing. The turn runs on when a collector goes away. Ends after the turn's last
     * event.
     */
    fun events(after: Long = 0): Flow<TurnEvent>

    /**
     * Waits for the end of the turn. The turn runs on if the waiting coroutine is cancelled.
     *
     * @throws RejoinException if the turn failed.
     */
    suspend fun await(): Answer

    /**
     * Cancels the turn: its connection is closed, `Failed` with `CANCELLED` is its last event, no
     * request follows. Returns at once; does nothing if the turn is over.
     */
    fun cancel()

    /**
     * Passes on what the device says. Several signals within a second make one attempt. Returns at
     * once.
     */
    fun signal(signal: Signal)

    /**
     * As [Signal.NETWORK_CHANGED], with what is known of the new network: it is told in the
     * `detail` of what it breaks. Returns at once.
     */
    fun networkChanged(metered: Boolean) = signal(Signal.NETWORK_CHANGED)

    /**
     * As [Signal.WILL_SUSPEND]; then waits until the turn is in the journal, if it has one: 250 ms
     * at most. Cancelling the wait cancels nothing else.
     */
    suspend fun willSuspend() = signal(Signal.WILL_SUSPEND)

    /**
     * The first thing that went wrong with this turn's journal, for people. The turn goes on all
     * the same, and perhaps cannot be restored.
     */
    val journalProblem: String? get() = null

    /**
     * What a screen of this turn shows right now, so that a late subscriber needs no replay: read
     * on with `events(after = snapshot.cursor)`. Costs a copy of the answer.
     */
    fun snapshot(): Snapshot

    /**
     * The turn's drops and what followed each, a line of JSON each: store them, and let
     * `rejoin advise` say where the threshold of the gate should be. No text and no key is in
     * them. Empty while the turn runs.
     */
    fun dropLog(): List<String> = emptyList()

    /**
     * The turn's inputs as a text that `rejoin replay` plays again, if [TurnRequest.record] asked
     * for it: write it to a file, and a bug report becomes a test. Null while the turn runs.
     */
    fun recording(): String? = null

    /**
     * The same as [cancel], for `use`. What has come so far can still be read; the memory is
     * freed when nobody holds the turn any more.
     */
    override fun close() = cancel()
}

/** The screen state of this turn: [Turn.events] from the start, through [transcript]. */
fun Turn.transcript(presentation: Presentation = Presentation.REPLACE): Flow<Transcript> =
    events().transcript(presentation)

/** True for the last event of a turn: nothing follows it. */
val TurnEvent.isLast: Boolean
    get() = kind is EventKind.Completed || kind is EventKind.Failed
