package dev.rejoin.sample

import android.content.Intent
import android.os.StrictMode
import android.view.View
import android.widget.TextView
import dev.rejoin.sample.support.FlakyServer
import dev.rejoin.sample.support.PHONE
import dev.rejoin.sample.support.Phone
import dev.rejoin.sample.support.untilDone
import java.util.concurrent.CopyOnWriteArrayList
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config

/** The app against the flaky server by itself, on the Android emulator's slow networks. */
@RunWith(RobolectricTestRunner::class)
@Config(qualifiers = PHONE)
class FlakyTest {
    @Test
    fun `through a tunnel on EDGE`() = story("tunnel", "edge")

    @Test
    fun `through a tunnel on GSM`() = story("tunnel", "gsm")

    @Test
    fun `a refund on EDGE`() = story("refund-twice", "edge") { phone ->
        phone.until("paid") { phone.text(R.id.tool_count) == "1 refund paid" }
        assertEquals(1, phone.activity.conversation.desk.paid)
    }

    @Test
    fun `two drops on GSM`() = story("second-drop", "gsm") { phone ->
        assertEquals("Attempt 3 · in one piece", phone.text(R.id.badge))
    }

    @Test
    fun `thoughts, code and a picture on EDGE`() = story("workshop", "edge") { phone ->
        phone.until("the picture") { phone.view(R.id.part_image)?.contentDescription == "An image from the model" }
    }

    @Test
    fun `a story is chosen on the empty screen, and can be asked for again`() {
        FlakyServer.stories().use { server ->
            val extras = Intent().putExtra("server", "${server.url}/{story}/{network}/{turn}").putExtra("network", "lte")
            Phone.opened(extras).use { phone ->
                val title = Phone.all(phone.activity.findViewById(R.id.exchanges))
                    .first { it is TextView && it.text == "A refund, once" }
                (title.parent as View).performClick()
                phone.until("paid") { phone.text(R.id.tool_count) == "1 refund paid" }
                phone.ask(Story.named("refund-twice")!!.question)
                // Another turn, so another refund: it is meant.
                phone.until("paid again") { phone.text(R.id.tool_count) == "2 refunds paid" }
                assertEquals("Done, whole after 2 attempts.", phone.text(R.id.headline))
            }
        }
    }

    /** Plays a story by itself; what holds on any machine, however slow, is asserted. */
    private fun story(name: String, network: String, also: (Phone) -> Unit = {}) {
        val script = FlakyServer.script(name)
        val expected = script.getJSONObject("expect")
        FlakyServer.story(name, network).use { server ->
            Phone.asking(server.url, name).use { phone ->
                phone.untilDone()
                val whole = expected.getString("text")
                assertEquals(whole, phone.activity.conversation.exchanges.last().screen().transcript.text)
                assertTrue(phone.answer.endsWith(whole.lines().last().takeLast(30)))
                val never = expected.optJSONArray("never")
                for (i in 0 until (never?.length() ?: 0)) {
                    val wrong = phone.frames.filter { it.answer.contains(never!!.getString(i)) }
                    assertEquals("${never!!.get(i)}", emptyList<Any>(), wrong)
                }
                assertTrue("it streamed: ${phone.frames.size} pictures", phone.frames.map { it.answer }.distinct().size > 2)
                also(phone)
                phone.shot("$name-$network")
            }
        }
    }

    @Test
    fun `the main thread touches no disk and no network`() {
        val violations = CopyOnWriteArrayList<String>()
        val before = StrictMode.getThreadPolicy()
        StrictMode.setThreadPolicy(
            StrictMode.ThreadPolicy.Builder().detectAll()
                .penaltyListener(Runnable::run) { violations += it.stackTraceToString() }.build(),
        )
        try {
            FlakyServer.story("refund-twice", "edge").use { server ->
                Phone.asking(server.url, "refund-twice").use { phone ->
                    phone.until("paid") { phone.text(R.id.tool_count) == "1 refund paid" }
                    phone.turn()
                    phone.untilDone()
                    assertEquals(emptyList<String>(), violations.filter { "dev.rejoin.sample.support" !in it })
                    // The watch works: a violation is seen.
                    StrictMode.noteSlowCall("watched")
                    phone.until("a violation") { violations.any { "watched" in it } }
                }
            }
        } finally {
            StrictMode.setThreadPolicy(before)
        }
    }
}
