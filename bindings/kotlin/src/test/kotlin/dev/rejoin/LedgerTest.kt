package dev.rejoin

import java.io.File
import java.nio.file.Files
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking

class LedgerTest {
    private val folder: String = Files.createTempDirectory("rejoin").resolve("ledger").toString()

    /** What another life of the app left: begun, and never finished. */
    private suspend fun begunBefore(key: String): Unit =
        EffectLedger.open(folder).use { assertEquals(EffectState.Fresh, it.begin(key)) }

    @Test
    fun `an effect runs once, also in another life`() = runBlocking<Unit> {
        var ran = 0
        repeat(2) {
            EffectLedger.open(folder).use { ledger ->
                repeat(2) { assertEquals("paid 1", ledger.once("k") { ran += 1; "paid $ran" }) }
            }
        }
        assertEquals(1, ran)
    }

    @Test
    fun `what may have happened is left to the rule`() = runBlocking<Unit> {
        val rules = mapOf<EffectRule, Int?>(
            EffectRule.Never to null,
            EffectRule.Retry to 1,
            EffectRule.Ask { EffectRule.Finding.DidNotHappen } to 1,
            EffectRule.Ask { EffectRule.Finding.Happened("seen") } to 0,
            EffectRule.Ask { EffectRule.Finding.StillUnknown } to null,
        )
        for ((n, entry) in rules.entries.withIndex()) {
            val (rule, expected) = entry
            begunBefore("k$n")
            EffectLedger.open(folder).use { ledger ->
                var ran = 0
                val run = suspend { ledger.run("k$n", rule) { ran += 1; "ran" } }
                if (expected == null) {
                    val refused = assertFailsWith<EffectNotRun> { run() }
                    assertIs<EffectState.Unknown>(refused.state)
                    assertEquals(0, ran)
                } else {
                    assertEquals(if (expected == 0) "seen" else "ran", run())
                    assertEquals(expected, ran)
                    assertIs<EffectState.Done>(ledger.begin("k$n"))
                }
            }
        }
    }

    @Test
    fun `what throws may have happened, and what waits gets the result`() = runBlocking<Unit> {
        EffectLedger.open(folder).use { ledger ->
            assertFailsWith<IllegalStateException> { ledger.once("k") { error("the server hung up") } }
            assertFailsWith<EffectNotRun> { ledger.once("k") { "again" } }
            assertEquals(listOf("k"), ledger.unknown())
            ledger.neverHappened("k")
            val gate = CompletableDeferred<Unit>()
            val first = async { ledger.once("k") { gate.await(); "once" } }
            val second = async { ledger.once("k") { error("a second time") } }
            gate.complete(Unit)
            assertEquals("once" to "once", first.await() to second.await())
        }
    }

    @Test
    fun `the calls of an answer run once, each by its rule`() = runBlocking<Unit> {
        val answer = Rejoin.fake {
            tool("pay", """{"n":1}""")
            tool("look", """{"n":2}""")
        }.ask(TurnRequest("m", "hi", turnId = "t"))
        val (pay, look) = answer.toolCalls
        begunBefore(pay.effectKey)
        EffectLedger.open(folder).use { ledger ->
            val ran = mutableListOf<String>()
            val rule = { call: ToolCall -> if (call.name == "pay") EffectRule.Retry else EffectRule.Never }
            repeat(2) { answer.runTools(ledger, rule) { ran += it.name; "ok" } }
            assertEquals(listOf("pay", "look"), ran)
            assertIs<EffectState.Done>(ledger.begin(look.effectKey))
        }
    }

    @Test
    fun `a damaged ledger says so until it is set aside`() = runBlocking<Unit> {
        EffectLedger.open(folder).use { it.once("k") { "paid" } }
        val file = File(folder, "effects.redb")
        file.writeBytes(file.readBytes().copyOf(5000))
        repeat(2) {
            val error = assertFailsWith<StorageException> { EffectLedger.open(folder) }
            assertEquals(StorageProblem.DAMAGED, error.problem)
        }
        assertEquals(5000, File(DurableLedger.setAside(folder)!!).length())
        EffectLedger.open(folder).use { assertEquals(EffectState.Fresh, it.begin("k")) }
    }
}
