package dev.rejoin

import dev.rejoin.support.assertWhole
import java.io.File
import java.util.concurrent.TimeUnit
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.last
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest

/** The fakes behave as the real client does, in no time. */
@OptIn(kotlinx.coroutines.ExperimentalCoroutinesApi::class)
class FakeTest {
    private val request = TurnRequest("m", "Rivers?")

    private val rivers = Rejoin.fake {
        thought("Hm. ")
        text("Rivers run. To th")
        pause(2.hours)
        drop(Cause.IDLE, keep = "Rivers run.")
        text(" To the sea.")
        tool("lookup", """{"q":1}""")
    }

    @Test
    fun `a fake turn has the order and the numbers of a real one`() = runTest {
        val events = rivers.stream(request).toList()
        assertWhole(events)
        val kinds = events.map { it.kind::class.java.simpleName }
        assertEquals(
            listOf(
                "AttemptStarted", "Thought", "Text", "Dropped", "Reset", "AttemptStarted", "Text", "ToolSeen",
                "Completed",
            ),
            kinds,
        )
        assertEquals(2.hours.inWholeMilliseconds, currentTime)
        val answer = rivers.ask(request)
        assertEquals("Rivers run. To the sea.", answer.text)
        assertEquals(listOf(Strategy.INITIAL, Strategy.CONTINUE), answer.attempts.map { it.strategy })
        assertEquals("lookup", answer.runTools(MemoryLedger()) { "ok" }.results.single().call.name)
    }

    @Test
    fun `a fake turn can be collected again from a cursor, cancelled and looked at`() = runTest {
        val turn = rivers.start(request)
        val at = turn.events().first { it.kind is EventKind.Text }
        assertEquals("Rivers run. To th", turn.snapshot().text)
        val rest = async { turn.events(after = at.seq).toList() }
        testScheduler.runCurrent()
        turn.cancel()
        assertIs<EventKind.Failed>(rest.await().single().kind)
        assertFailsWith<RejoinException.Cancelled> { turn.await() }
        assertTrue(currentTime < 1000, "a cancel waits for no pause")
        assertEquals("Rivers run. To th", turn.transcript().last().text)
    }

    @Test
    fun `a fake turn can fail, wait and go offline`() = runTest {
        val client = Rejoin.fake {
            waiting(WaitReason.OFFLINE, null)
            waiting(WaitReason.BACKOFF, 3.seconds)
            fail(ErrorKind.UNREACHABLE, "no route")
        }
        val states = client.stream(request).transcript().toList()
        assertEquals(
            listOf(TurnStatus.STARTING, TurnStatus.OFFLINE, TurnStatus.WAITING, TurnStatus.FAILED),
            states.map { it.status },
        )
        assertFailsWith<RejoinException.Unreachable> { client.ask(request) }
        assertFailsWith<IllegalArgumentException> { Rejoin.fake { text("a"); drop(keep = "b") }.start(request) }
    }

    @Test
    fun `fakes need no native library`() {
        val classpath = System.getProperty("surefire.test.class.path") ?: System.getProperty("java.class.path")
        val java = File(System.getProperty("java.home"), "bin/java").path
        val process = ProcessBuilder(
            java, "-Djna.library.path=/nonexistent", "-Djna.nosys=true", "-cp", classpath, "dev.rejoin.FakeOnlyKt",
        ).redirectErrorStream(true).start()
        val output = process.inputStream.bufferedReader().readText()
        assertTrue(process.waitFor(30, TimeUnit.SECONDS))
        assertEquals("a word; native: false" to 0, output.trim() to process.exitValue(), output)
    }
}
