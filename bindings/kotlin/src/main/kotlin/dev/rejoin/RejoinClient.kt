package dev.rejoin

import kotlinx.coroutines.flow.Flow

/** Starts turns. Safe to use from any thread. Made by [Rejoin.client] or [Rejoin.fake]. */
interface RejoinClient {
    /**
     * One answer as a cold flow: each collection is a turn of its own.
     *
     * The flow ends after `Completed` or `Failed`, which are values, not exceptions. When the
     * collector goes away earlier, because it is cancelled, throws or has enough (`first()`), the
     * turn is cancelled and its connection closed at once. To keep it instead, [start] a turn and
     * collect [Turn.events].
     *
     * A slow collector slows nothing down but itself: the core goes on receiving, nothing is lost
     * and no channel is in between. Events come in the collector's context; the native side is
     * read at most once per display frame, without delaying the first event or the last.
     *
     * @throws RejoinException.InvalidArgument on collection, if the request cannot be used.
     */
    fun stream(request: TurnRequest): Flow<TurnEvent>

    /**
     * Starts a turn and returns at once. The turn belongs to the caller: it runs on while nobody
     * collects, until it is over or [closed][Turn.close].
     *
     * @throws RejoinException.InvalidArgument if the request cannot be used; nothing is sent.
     */
    fun start(request: TurnRequest): Turn

    /**
     * What the attempts of all turns of this client have cost so far, as far as anybody can know:
     * [Spend.lowerBound] says whether a broken attempt may have cost more than it told.
     */
    fun spent(): Spend

    /**
     * Goes on with a turn that another process began and this client's journal kept: what was
     * there comes at once, then a `Dropped` with `SUSPENDED`, and the turn goes on as after any
     * drop. Attempts and drops of before count. A turn that was over tells its end again, and
     * nothing is sent. Reads a file for some milliseconds: not for the main thread.
     *
     * @param request needed where the journal keeps no text; also says which tools are read only.
     * @throws StorageException if it cannot be restored; nothing is sent.
     */
    fun restore(turnId: String, request: TurnRequest? = null): Turn =
        throw StorageException(StorageProblem.NO_JOURNAL, "this client has no journal")

    /**
     * The turns of the journal, the one written last first: after a start of the app, those that
     * are not over can be restored. Reads a file. Empty without a journal.
     */
    fun journaled(): List<JournaledTurn> = emptyList()

    /** Forgets a turn of the journal. Writes a file. */
    fun forget(turnId: String) = Unit
}

/**
 * The whole answer of a turn of its own. When the calling coroutine is cancelled, the turn is
 * cancelled and its connection closed.
 *
 * @throws RejoinException if the turn fails, with the text that there is.
 */
suspend fun RejoinClient.ask(request: TurnRequest): Answer = start(request).use { it.await() }
