package dev.rejoin.sample

import dev.rejoin.Cause
import dev.rejoin.Decision
import dev.rejoin.EventKind
import dev.rejoin.Presentation
import dev.rejoin.Reason
import dev.rejoin.ResetReason
import dev.rejoin.Strategy
import dev.rejoin.TurnEvent
import dev.rejoin.WaitReason
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

/** Events in, pictures out: no Android, no network, no clock. */
class PureTest {
    private class Told(presentation: Presentation = Presentation.REPLACE) {
        val reducer = TurnReducer(presentation)
        val stage = Stage(presentation)
        private var attempt = 1

        fun event(kind: EventKind, now: Long = 0) =
            reducer.apply(TurnEvent("t", reducer.cursor + 1, attempt, kind), now)

        fun text(text: String) = event(EventKind.Text(text))

        fun drop(keep: Int, now: Long = 0) {
            val decision = Decision(Strategy.CONTINUE, listOf(Reason.FREE_TEXT_ABOVE_THRESHOLD))
            event(EventKind.Dropped(Cause.RESET, null, null, 230, 213, true, decision), now)
            attempt += 1
            val keepUtf16 = keep.toLong()
            event(EventKind.Reset(keepUtf16, keepUtf16, 0, 0, 0, ResetReason.Dropped(Cause.RESET)), now)
            event(EventKind.AttemptStarted(Strategy.CONTINUE), now)
        }

        fun picture(now: Long) = stage.next(reducer.current(), now)
    }

    @Test
    fun `a reset keeps exactly what it says, and what goes stays a moment`() {
        val told = Told()
        told.text("One. Two. Thr")
        assertEquals(Display("One. Two. Thr"), told.picture(0))
        told.drop(keep = 9)
        told.text(" Three.")
        val struck = told.picture(100)
        assertEquals("One. Two. Thr", struck.text)
        assertEquals(9, struck.struckFrom)
        assertTrue(struck.moving)
        assertEquals(1f, struck.fade)
        val fading = told.picture(100 + Stage.STRUCK_MS + Stage.FADE_MS / 2)
        assertEquals(0.5f, fading.fade, 0.01f)
        assertEquals(Display("One. Two. Three."), told.picture(100 + Stage.STRUCK_MS + Stage.FADE_MS))
    }

    @Test
    fun `a second reset while text still fades takes the smaller part`() {
        val told = Told()
        told.text("One. Two. Thr")
        told.picture(0)
        told.drop(keep = 9)
        assertEquals(9, told.picture(10).struckFrom)
        told.drop(keep = 4)
        val struck = told.picture(200)
        assertEquals("One. Two. Thr" to 4, struck.text to struck.struckFrom)
        assertEquals(Display("One."), told.picture(200 + Stage.STRUCK_MS + Stage.FADE_MS))
    }

    @Test
    fun `text that came and went between two frames was never there`() {
        val told = Told()
        told.text("One.")
        told.picture(0)
        told.text(" Two")
        told.drop(keep = 4)
        assertEquals(Display("One."), told.picture(16))
    }

    @Test
    fun `held text stays until the new text has caught up`() {
        val told = Told(Presentation.HOLD)
        told.text("One. Two. Thr")
        told.drop(keep = 4)
        assertEquals("One. Two. Thr" to 4, told.picture(0).run { text to mutedFrom })
        told.text(" Zwei. Drei.")
        assertEquals(Display("One. Zwei. Drei."), told.picture(0))
    }

    @Test
    fun `annotated text keeps what went at its place`() {
        val told = Told(Presentation.ANNOTATE)
        told.text("One. Tw")
        told.drop(keep = 4)
        told.text(" Two.")
        assertEquals(Display("One. Two.", notes = listOf(StruckNote(4, " Tw"))), told.picture(0))
    }

    @Test
    fun `events that come twice change nothing`() {
        val told = Told()
        told.text("One.")
        told.reducer.apply(TurnEvent("t", 1, 1, EventKind.Text("One.")), 0)
        assertEquals("One.", told.reducer.current().transcript.text)
        assertEquals(1L, told.reducer.cursor)
    }

    @Test
    fun `a pause is counted down from when it began, and ends with the next attempt`() {
        val told = Told()
        told.event(EventKind.Waiting(2, 4000, WaitReason.SERVER_ASKED), now = 1000)
        val wait = told.reducer.current().wait!!
        assertEquals(listOf(4L, 4L, 3L, 1L, 0L), listOf(1000L, 1001L, 2000L, 4500L, 9000L).map { wait.secondsLeft(it) })
        told.event(EventKind.AttemptStarted(Strategy.RESTART))
        assertNull(told.reducer.current().wait)
    }

    @Test
    fun `blocks of an answer that grows keep their places`() {
        val text = "# Plan\n\nFirst:\n- eat\n- sleep\n  1. deep\n\n```kotlin\nval a = 1\n\nval b = 2\n```\nThe end."
        val kinds = Blocks.of(text).map { it.kind to text.substring(it.start, it.end) }
        assertEquals(
            listOf(
                BlockKind.HEADING to "Plan", BlockKind.PARAGRAPH to "First:", BlockKind.ITEM to "eat",
                BlockKind.ITEM to "sleep", BlockKind.ITEM to "deep",
                BlockKind.CODE to "val a = 1\n\nval b = 2", BlockKind.PARAGRAPH to "The end.",
            ),
            kinds,
        )
        // Streaming: all but the last block of a prefix are already as they will be.
        for (length in text.indices) {
            val partial = Blocks.of(text.take(length)).dropLast(1)
            assertEquals(partial, Blocks.of(text).take(partial.size))
        }
    }

    @Test
    fun `the key goes to Gemini only, and is not printed`() {
        val plain = Settings(network = NetworkProfile.GSM, story = Story.named("busy"))
        assertEquals("http://10.0.2.2:8080/busy/gsm/t1", plain.baseUrl("t1"))
        assertFalse(plain.usesGemini)
        val keyed = plain.copy(apiKey = ApiKey("AIza-secret"), server = "http://evil.example")
        assertEquals("https://generativelanguage.googleapis.com", keyed.baseUrl("t1"))
        assertFalse(keyed.toString().contains("secret"))
    }
}
