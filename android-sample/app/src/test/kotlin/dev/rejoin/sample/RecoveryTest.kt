package dev.rejoin.sample

import android.graphics.Typeface
import android.view.View
import dev.rejoin.sample.support.LISBON
import dev.rejoin.sample.support.PHONE
import dev.rejoin.sample.support.show
import dev.rejoin.sample.support.told
import dev.rejoin.sample.support.untilDone
import org.json.JSONArray
import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config

/** The connection breaks in every way that Rejoin tells apart: what the user sees of it. */
@RunWith(RobolectricTestRunner::class)
@Config(qualifiers = PHONE)
class RecoveryTest {
    @Test
    fun `a long answer goes on where it broke off`() = told("tunnel") { server, phone ->
        val first = server.request(1, phone)
        first.show(phone, LISBON, 40)
        first.show(phone, "In the afternoon, take the ferry. Find a low wall by the wa", 300)
        phone.shot("continue-1-streaming")
        first.reset()
        phone.until("struck text") { phone.spanned<StruckSpan>().isNotEmpty() }
        assertEquals(" Find a low wall by the wa", phone.spanned<StruckSpan>())
        phone.advance(Stage.STRUCK_MS - 100)
        phone.shot("continue-2-struck")
        val second = server.request(2, phone)
        assertEquals(
            "The connection broke. Going on from the last whole sentence.", phone.text(R.id.headline),
        )
        phone.until("the second attempt") { phone.text(R.id.badge).startsWith("Attempt 2") }
        val detail = phone.text(R.id.detail)
        assertTrue(detail, detail.endsWith("Taken back: 26 characters."))
        assertTrue(detail, detail.contains("tokens to build on (measured) · enough text to keep"))
        assertEquals("Attempt 2 · continued", phone.text(R.id.badge))
        second.text(
            "In the afternoon, take the ferry. Find a low wall by the water, and stay until the " +
                "lights go on.",
            30,
        )
        second.stop(30)
        phone.untilDone()
        val kept = "In the afternoon, take the ferry."
        assertTrue(phone.answer.endsWith("$kept Find a low wall by the water, and stay until the lights go on."))
        phone.shot("continue-3-done")

        // What stays is in every frame from the first one on; the old end and the new never meet.
        val frames = phone.frames.dropWhile { !it.answer.contains(kept) }
        assertTrue(frames.all { it.answer.contains("river.\n$kept") })
        assertTrue(frames.none { it.answer.contains("waFind") || it.answer.contains("wa Find") })
        assertEquals(
            listOf(
                "Answering…",
                "The connection broke. Going on from the last whole sentence.",
                "Done, whole after 2 attempts.",
            ),
            phone.spoken() - "Waiting for the answer…",
        )
        phone.click(R.id.timeline_toggle)
        val costs = phone.texts().filter { it.contains("billed") }
        assertTrue("$costs", costs[0].startsWith("The connection broke.\nbilled: at least 9 in, 300 out"))
        assertTrue("$costs", costs[1].startsWith("whole\nbilled: 9 in, 30 out"))
        phone.shot("continue-4-timeline")
    }

    @Test
    fun `a short answer is struck through and begun again`() = told { server, phone ->
        server.request(1, phone).apply {
            show(phone, "Cats purr when they are happy, as every", 12)
            reset()
        }
        phone.until("struck text") { phone.spanned<StruckSpan>().isNotEmpty() }
        assertEquals("Cats purr when they are happy, as every", phone.spanned<StruckSpan>())
        assertTrue(phone.text(R.id.detail).endsWith("Taken back: all 39 characters."))
        phone.shot("restart-struck")
        server.request(2, phone).apply {
            text("Mostly because they are content.", 9)
            stop(9)
        }
        phone.untilDone()
        assertEquals("Mostly because they are content.", phone.answer)
        // It fades: the same text in several colours.
        val struck = phone.frames.filter { it.struck.isNotEmpty() }
        assertTrue(struck.all { it.answer == "Cats purr when they are happy, as every" })
    }

    @Test
    fun `where nothing was shown yet nothing flickers`() = told { server, phone ->
        val first = server.request(1, phone)
        first.thought("I think of a cat.")
        phone.until("thoughts") { phone.shown(R.id.thoughts_toggle) }
        first.reset()
        server.request(2, phone).apply {
            show(phone, "Mostly because they are content.", 9)
            stop(9)
        }
        phone.untilDone()
        assertTrue(phone.frames.none { it.struck.isNotEmpty() })
        assertTrue(phone.frames.any { it.detail.endsWith("Nothing was shown yet.") })
        assertEquals(
            listOf("", "Mostly because they are content."), phone.frames.map { it.answer }.distinct(),
        )
        assertFalse(phone.shown(R.id.thoughts_toggle))
    }

    @Test
    fun `after a second drop the answer comes in one piece`() = told("second-drop") { server, phone ->
        server.request(1, phone).apply { show(phone, "Cats purr when", 4); reset() }
        server.request(2, phone).apply { show(phone, "A purring cat", 4); reset() }
        val third = server.request(3, phone)
        assertTrue(third.path, third.path.contains(":generateContent"))
        phone.until("the badge") { phone.text(R.id.badge) == "Attempt 3 · in one piece" }
        assertEquals(
            "The connection broke. Fetching the rest in one piece.", phone.text(R.id.headline),
        )
        phone.shot("second-drop")
        third.whole("Mostly because they are content, but not only.", 12)
        phone.untilDone()
        assertEquals("Mostly because they are content, but not only.", phone.answer)
        assertEquals("Done, whole after 3 attempts.", phone.text(R.id.headline))
    }

    @Test
    fun `a busy server is waited for, and the seconds are counted`() = told("busy") { server, phone ->
        val retry = JSONObject().put("@type", "type.googleapis.com/google.rpc.RetryInfo").put("retryDelay", "4s")
        server.request(1, phone).refuse(
            429,
            JSONObject().put("code", 429).put("status", "RESOURCE_EXHAUSTED")
                .put("message", "Too many requests.").put("details", JSONArray().put(retry)),
        )
        phone.until("a countdown") { phone.text(R.id.countdown) == "4 s" }
        assertEquals(
            "The server said no (HTTP 429). The server asked for a pause.", phone.text(R.id.headline),
        )
        phone.shot("busy")
        phone.advance(1500)
        assertEquals("3 s", phone.text(R.id.countdown))
        assertEquals(
            "Next attempt in 3 seconds", phone.view(R.id.countdown)?.contentDescription.toString(),
        )
        server.request(2, phone).apply { show(phone, "Second Wind.", 3); stop(3) }
        phone.untilDone()
        assertFalse(phone.shown(R.id.countdown))
        phone.click(R.id.timeline_toggle)
        assertTrue(phone.texts().any { it.startsWith("The server said no (HTTP 429).\nnot billed") })
        // The seconds are not spoken, one by one, over everything else.
        assertTrue(phone.spoken().none { it.contains("4 s") })
    }

    @Test
    fun `strict JSON starts over, as code`() = told("schema") { server, phone ->
        server.request(1, phone).apply {
            assertEquals(
                "application/json",
                body.getJSONObject("generationConfig").getString("responseMimeType"),
            )
            show(phone, """{"name": "Lemon cake", "ingredients": ["250 g flo""", 400)
            reset()
        }
        phone.until("the reason") { phone.text(R.id.detail).contains("half a JSON object cannot be continued") }
        phone.shot("schema")
        val whole = """{"name": "Grandmother's lemon cake"}"""
        server.request(2, phone).apply { show(phone, whole, 9); stop(9) }
        phone.untilDone()
        assertEquals(whole, phone.answer)
        assertEquals(JSONObject(whole).toString(), JSONObject(phone.answer).toString())
        val block = phone.blocks().single()
        assertEquals(Typeface.MONOSPACE, block.typeface)
        assertEquals(View.TEXT_DIRECTION_LTR, block.textDirection)
    }

    @Test
    fun `an answer that the model begins anew is taken back as a whole`() = told("silent-restart") { server, phone ->
        val old = "Good bread needs four things: flour, water, salt and time. Then heat a hea"
        server.request(1, phone).apply { show(phone, old, 80); reset() }
        server.request(2, phone).apply {
            text("Good bread needs four things: flour, water, salt and time, and the last one is free.", 20)
            phone.until("the reason") { phone.text(R.id.detail).contains("The model began its answer anew.") }
            stop(20)
        }
        phone.untilDone()
        assertEquals(
            "Good bread needs four things: flour, water, salt and time, and the last one is free.",
            phone.answer,
        )
    }
}
