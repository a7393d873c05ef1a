package dev.rejoin.sample

import android.content.Intent
import dev.rejoin.sample.support.FlakyServer
import dev.rejoin.sample.support.PHONE
import dev.rejoin.sample.support.Phone
import dev.rejoin.sample.support.told
import dev.rejoin.sample.support.untilDone
import java.lang.management.ManagementFactory
import java.util.concurrent.locks.LockSupport
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config

/** What a fast stream costs the main thread. Paragraphs are of 100 words, as a model's are. */
@RunWith(RobolectricTestRunner::class)
@Config(qualifiers = PHONE)
class FramesTest {
    private val perParagraph = 100

    private fun word(i: Int) = "w$i" + if (i % perParagraph == perParagraph - 1) "\n\n" else " "

    @Test
    fun `three thousand events a second are drawn at most once per frame`() {
        val groups = 60
        val send = (0 until groups).joinToString(",") { group ->
            val events = (0 until 100).joinToString(",") { i ->
                "\"${word(group * 100 + i).replace("\n", "\\n")}\""
            }
            """$events,{"wait_ms":33}"""
        }
        FlakyServer.of("""{"segment":"all","send":[$send,{"finish":"STOP"}]}""").use { server ->
            Phone.opened(Intent().putExtra("server", server.url)).use { phone ->
                phone.stopWatching()
                phone.activity.ask("Go on.")
                val before = phone.activity.frames.passes
                var frames = 0
                var firstAt = 0L
                val limit = System.nanoTime() + 60_000_000_000
                while (!phone.text(R.id.headline).startsWith("Done")) {
                    check(System.nanoTime() < limit) { "never done: ${phone.texts()}" }
                    val next = System.nanoTime() + 16_666_667
                    phone.advance(16)
                    frames += 1
                    if (firstAt == 0L && phone.answer.isNotEmpty()) firstAt = System.nanoTime()
                    LockSupport.parkNanos(next - System.nanoTime())
                }
                val took = (System.nanoTime() - firstAt) / 1e9
                val passes = phone.activity.frames.passes - before
                assertEquals(groups * 100, phone.answer.split(Regex("\\s+")).count { it.isNotEmpty() })
                println("frames: ${groups * 100} events in %.1f s: $passes passes in $frames frames".format(took))
                assertTrue("$passes passes in $frames frames", passes <= frames)
            }
        }
    }

    /** The same rate on the phone's clock, so that it holds on a busy machine: 50 events in each frame. */
    @Test
    fun `fifty events in every frame are one short pass`() = told { server, phone ->
        val request = server.request(1, phone)
        phone.stopWatching()
        val threads = ManagementFactory.getThreadMXBean()
        val exchange = phone.activity.conversation.exchanges.last()
        val cpu = mutableListOf<Long>()
        var passes = phone.activity.frames.passes
        val perFrame = 50
        for (frame in 0 until 200) {
            request.texts((frame * perFrame until (frame + 1) * perFrame).map(::word))
            val words = (frame + 1) * perFrame
            val limit = System.nanoTime() + 60_000_000_000
            while (!exchange.screen().transcript.answer.endsWith(word(words - 1))) {
                check(System.nanoTime() < limit) { "the events of frame $frame never came" }
                LockSupport.parkNanos(500_000)
            }
            val before = threads.currentThreadCpuTime
            phone.advance(16)
            cpu += threads.currentThreadCpuTime - before
            assertTrue(phone.activity.frames.passes - passes <= 1)
            passes = phone.activity.frames.passes
        }
        request.stop()
        phone.untilDone()
        assertEquals(200 * perFrame, phone.answer.split(Regex("\\s+")).count { it.isNotEmpty() })
        // The first frames are the JVM's own warming up. CPU time: what else runs here is not the app.
        val warm = cpu.drop(100).sorted()
        println(
            "frames: 50 events in each, main thread: median %.1f ms, 99 %% %.1f ms, most %.1f ms of CPU".format(
                warm[warm.size / 2] / 1e6, warm[warm.size * 99 / 100] / 1e6, warm.last() / 1e6,
            ),
        )
        assertTrue("median ${warm[warm.size / 2]} ns", warm[warm.size / 2] < 50_000_000)
        assertTrue("most ${warm.last()} ns", warm.last() < 500_000_000)
    }
}
