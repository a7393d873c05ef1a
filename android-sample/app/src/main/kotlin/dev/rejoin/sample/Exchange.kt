package dev.rejoin.sample

import dev.rejoin.Presentation
import dev.rejoin.ToolCall
import dev.rejoin.Turn
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.flow.collect

/**
 * A question and the turn that answers it. Outlives the Activity: a new one reads on with the
 * cursor, from the event that the old one handled last. Safe to use from any thread.
 *
 * @property question what the user asked.
 * @property turnId chosen by the app, so that asking again after a crash keeps the effect keys.
 */
class Exchange(val question: String, val turnId: String, val story: Story?) {
    private val turn = CompletableDeferred<Turn>()
    private var reducer = TurnReducer(Presentation.REPLACE)
    private var current: TurnScreen? = null

    /** What came of the calls, in order, once the answer is whole. */
    @Volatile var paid: List<PaidCall> = emptyList()

    /** Why the turn could not even start. */
    @Volatile var refusal: String? = null

    /** What the last process left of this exchange, if that is where it comes from. */
    var leftover: Leftover? = null

    val running: Boolean get() = refusal == null && leftover == null && !screen().finished

    fun begin(started: Turn) {
        turn.complete(started)
    }

    /** The turn, if it has begun. */
    @OptIn(kotlinx.coroutines.ExperimentalCoroutinesApi::class)
    fun turnOrNull(): Turn? = if (turn.isCompleted) turn.getCompleted() else null

    /** The screen after the events so far: the same object while nothing has changed. */
    fun screen(): TurnScreen = synchronized(this) {
        current ?: reducer.current().also { current = it }
    }

    /**
     * Reads the turn on and tells of every change, until the turn is over or the caller's
     * coroutine is cancelled. The turn itself runs on in either case.
     */
    suspend fun follow(clock: () -> Long, changed: () -> Unit) {
        val after = synchronized(this) { reducer.cursor }
        turn.await().events(after).collect { event ->
            synchronized(this) {
                reducer.apply(event, clock())
                current = null
            }
            changed()
        }
    }

    /**
     * Shows the turn another way, from its first event on: reading consumes nothing. The caller
     * [follow]s anew.
     */
    fun present(presentation: Presentation) = synchronized(this) {
        reducer = TurnReducer(presentation)
        current = null
    }
}

/** A call that was run under its effect key, with what came of it. */
data class PaidCall(val call: ToolCall, val result: String)

/** What the screen showed of a turn whose process is gone; [cut] if it was not over. */
data class Leftover(val text: String, val cut: Boolean)
