package dev.rejoin.sample

import android.content.Context
import android.os.StrictMode
import dev.rejoin.sample.support.FlakyServer
import dev.rejoin.sample.support.PHONE
import dev.rejoin.sample.support.Phone
import dev.rejoin.sample.support.untilDone
import java.lang.management.ManagementFactory
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.locks.LockSupport
import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config

/** The app against the flaky server by itself, on the Android emulator's slow networks, and fast. */
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
                    assertTrue(phone.frames.none { it.answer.contains(never!!.getString(i)) })
                }
                assertTrue("it streamed: ${phone.frames.size} pictures", phone.frames.map { it.answer }.distinct().size > 2)
                also(phone)
                phone.shot("$name-$network")
            }
        }
    }

    @Test
    fun `three thousand events a second are drawn once per frame`() {
        val groups = 60
        val perGroup = 100
        val send = (0 until groups).joinToString(",") { group ->
            val events = (0 until perGroup).joinToString(",") { i ->
                val end = if (i == perGroup - 1) "\\n\\n" else " "
                "\"w${group * perGroup + i}$end\""
            }
            """$events,{"wait_ms":33}"""
        }
        FlakyServer.of("""{"segment":"all","send":[$send,{"finish":"STOP"}]}""").use { server ->
            val intent = android.content.Intent().putExtra("server", server.url)
            Phone.opened(intent).use { phone ->
                val threads = ManagementFactory.getThreadMXBean()
                phone.stopWatching()
                val passesBefore = phone.activity.frames.passes
                val cpu = mutableListOf<Long>()
                phone.activity.ask("Go on.")
                var firstAt = 0L
                val limit = System.nanoTime() + 60_000_000_000
                while (!phone.text(R.id.headline).startsWith("Done")) {
                    check(System.nanoTime() < limit) { "never done: ${phone.texts()}" }
                    // One frame of the phone's, at the pace of a screen with 60 Hz or slower.
                    val next = System.nanoTime() + 16_666_667
                    val before = threads.currentThreadCpuTime
                    phone.advance(16)
                    cpu += threads.currentThreadCpuTime - before
                    if (firstAt == 0L && phone.answer.isNotEmpty()) firstAt = System.nanoTime()
                    LockSupport.parkNanos(next - System.nanoTime())
                }
                val took = (System.nanoTime() - firstAt) / 1e9
                val passes = phone.activity.frames.passes - passesBefore
                val frames = cpu.size
                val report = phone.activity.conversation.exchanges.last().screen().transcript.completed!!
                val words = report.text.split(Regex("\\s+")).filter { it.isNotEmpty() }
                assertEquals(groups * perGroup, words.size)
                val sorted = cpu.sorted()
                println(
                    "frames: ${words.size} events in %.1f s, $passes passes in $frames frames; ".format(took) +
                        "main thread per frame: median %.1f ms, 99 %% %.1f ms, most %.1f ms of CPU".format(
                            sorted[sorted.size / 2] / 1e6, sorted[sorted.size * 99 / 100] / 1e6, sorted.last() / 1e6,
                        ),
                )
                assertTrue("$passes passes in $frames frames", passes <= frames)
                assertTrue("$passes passes for ${words.size} events", passes < words.size / 10)
                // CPU time, not time: another process on the machine is none of the app's blocking.
                assertTrue("${sorted[sorted.size * 99 / 100]} ns", sorted[sorted.size * 99 / 100] < 100_000_000)
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
                    // The watch works: this is what it would have seen.
                    phone.activity.getSharedPreferences("watched", Context.MODE_PRIVATE).getString("a", null)
                    phone.until("a violation") { violations.isNotEmpty() }
                }
            }
        } finally {
            StrictMode.setThreadPolicy(before)
        }
    }
}
