package dev.rejoin

import dev.rejoin.support.assertWhole
import dev.rejoin.support.flaky
import dev.rejoin.support.rendered
import java.io.File
import java.nio.file.Files
import java.util.concurrent.TimeUnit
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking

/** Turns and effects that survive the process. The process that dies is `rejoin stream`. */
class JournalTest {
    private fun folder(): String = Files.createTempDirectory("rejoin").resolve("kept").toString()

    private fun client(url: String, folder: String, keepText: Boolean = true) =
        Rejoin.client(baseUrl = url, journal = JournalConfig(folder, keepText = keepText))

    /**
     * A turn in a process of its own that is killed when its text is in the journal: when a count that
     * came half a second later is on the disk, the commit before is whole.
     */
    private fun killedTurn(url: String, folder: String, vararg more: String) {
        val command = listOf(
            System.getProperty("rejoin.bin"), "stream", "--base-url", url, "--model", "m", "--prompt", "hi",
            "--turn-id", "t-1", "--events", "jsonl", "--journal", folder,
        )
        val process = ProcessBuilder(command + more).redirectError(ProcessBuilder.Redirect.INHERIT).start()
        val needle = "\"candidatesTokenCount\":77"
        val patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(10)
        while (!File(folder, "turns.redb").let { it.exists() && needle in it.readText(Charsets.ISO_8859_1) }) {
            check(System.nanoTime() < patience) { "it never came to the disk" }
            Thread.sleep(5)
        }
        process.destroyForcibly().waitFor()
    }

    private val hangs =
        """{"send": ["The first sentence. ", "And a seco", {"wait_ms": 500}, {"json": {"usageMetadata": {"candidatesTokenCount": 77}}}], "end": "hang"}"""
    private val rest = """{"send": ["And a second one.", {"finish": "STOP"}]}"""

    @Test
    fun `a turn of a killed process goes on here`() = runBlocking<Unit> {
        flaky(hangs, rest).use { server ->
            val folder = folder()
            killedTurn(server.url, folder, "--set", "min_continue_tokens=1")
            val client = client(server.url, folder)
            val listed = client.journaled().single()
            assertEquals(Triple("t-1", "m", false), Triple(listed.turnId, listed.model, listed.over))
            val turn = client.restore("t-1")
            val events = turn.events().toList()
            assertWhole(events)
            assertEquals(EventKind.Text("The first sentence. And a seco"), events.first().kind)
            val dropped = events[1].kind as EventKind.Dropped
            assertEquals(Cause.SUSPENDED to Strategy.CONTINUE, dropped.cause to dropped.decision.strategy)
            val answer = turn.await()
            assertEquals("The first sentence. And a second one.", answer.text)
            assertEquals(listOf(1, 2), answer.attempts.map { it.attempt })
            assertEquals(answer.text, rendered(events))
            assertNull(turn.journalProblem)

            // Over: told again, and forgotten when the app says so.
            assertEquals(answer, client.restore("t-1").await())
            client.forget("t-1")
            val unknown = assertFailsWith<StorageException> { client.restore("t-1") }
            assertEquals(StorageProblem.UNKNOWN_TURN, unknown.problem)
            val locked = assertFailsWith<StorageException> { client(server.url, folder) }
            assertEquals(StorageProblem.LOCKED, locked.problem)
        }
    }

    @Test
    fun `without text the request is needed again`() = runBlocking<Unit> {
        flaky(hangs, """{"send": ["Anew.", {"finish": "STOP"}]}""").use { server ->
            val folder = folder()
            killedTurn(server.url, folder, "--journal-without-text")
            val client = client(server.url, folder, keepText = false)
            val request = TurnRequest(model = "m", prompt = "hi")
            val missing = assertFailsWith<StorageException> { client.restore("t-1") }
            assertEquals(StorageProblem.REQUEST_NEEDED, missing.problem)
            val other = assertFailsWith<StorageException> { client.restore("t-1", request.copy(prompt = "ho")) }
            assertEquals(StorageProblem.ANOTHER_REQUEST, other.problem)
            assertEquals("Anew.", client.restore("t-1", request).await().text)
        }
    }

    @Test
    fun `before the app is suspended its turn is on the disk`() = runBlocking<Unit> {
        flaky("""{"send": ["And a seco"], "end": "hang"}""", rest).use { server ->
            val folder = folder()
            val client = client(server.url, folder)
            val device = DeviceSignals()
            client.start(TurnRequest(model = "m", prompt = "hi")).use { turn ->
                device.attach(turn)
                turn.events().first { it.kind == EventKind.Text("And a seco") }
                device.willSuspend()
                assertTrue("And a seco" in File(folder, "turns.redb").readText(Charsets.ISO_8859_1))
                device.resumed()
                val dropped = turn.events().first { it.kind is EventKind.Dropped }.kind
                assertEquals(Cause.SUSPENDED, (dropped as EventKind.Dropped).cause)
            }
        }
    }

    @Test
    fun `a client without a journal restores nothing`() {
        val client = Rejoin.client(baseUrl = "http://127.0.0.1:9")
        assertEquals(emptyList(), client.journaled())
        val error = assertFailsWith<StorageException> { client.restore("t-1") }
        assertEquals(StorageProblem.NO_JOURNAL, error.problem)
        val fake = assertFailsWith<StorageException> { Rejoin.fake { }.restore("t-1") }
        assertEquals(StorageProblem.NO_JOURNAL, fake.problem)
    }
}
