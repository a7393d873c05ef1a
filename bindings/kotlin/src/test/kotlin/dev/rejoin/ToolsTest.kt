package dev.rejoin

import com.google.gson.JsonParser
import dev.rejoin.support.client
import dev.rejoin.support.flaky
import dev.rejoin.support.live
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertNotEquals
import kotlin.test.assertTrue
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay

class ToolsTest {
    private val tools = listOf(
        Tool("refund", "Pays back", """{"type":"object"}""", keyFields = listOf("order")),
        Tool("lookup", readOnly = true),
    )

    private fun request(turnId: String) = TurnRequest("m", "Refund it.", tools = tools, turnId = turnId)

    @Test
    fun `a call seen twice through a drop runs once, with one key`() = live {
        flaky(
            """{"send":[{"call":"refund","args":{"order":7,"note":"sorry"},"id":"c1"}],"end":"reset"}""",
            """{"send":[{"call":"lookup","args":{}},{"call":"refund","args":{"note":"so sorry","order":7},"id":"c9","finish":"STOP"}]}""",
        ).use { server ->
            val answer = client(server.url).ask(request("turn-7"))
            assertEquals(listOf("lookup" to true, "refund" to false), answer.toolCalls.map { it.name to it.readOnly })
            assertEquals(Rejoin.effectKey("turn-7", "refund", """{"order":7}"""), answer.toolCalls[1].effectKey)

            val ledger = MemoryLedger()
            val ran = mutableListOf<String>()
            val first = answer.runTools(ledger) { ran += it.name; if (it.name == "lookup") "found" else """{"paid":true}""" }
            // The app was killed and runs the same turn again: the refund is not paid twice.
            val again = answer.runTools(ledger) { ran += it.name; "found" }
            assertEquals(listOf("lookup", "refund", "lookup"), ran)
            assertEquals(first, again)

            val content = JsonParser.parseString(first.history.last())
            val expected = """{"role":"user","parts":[
                {"functionResponse":{"name":"lookup","response":{"result":"found"}}},
                {"functionResponse":{"id":"c9","name":"refund","response":{"paid":true}}}]}"""
            assertEquals(JsonParser.parseString(expected), content)
            assertEquals(answer.history, first.history.dropLast(1))
        }
    }

    @Test
    fun `an answer without calls runs nothing`() = live {
        flaky("""{"send":[{"text":"No.","finish":"STOP"}]}""").use { server ->
            val answer = client(server.url).ask(request("t"))
            val run = answer.runTools(MemoryLedger()) { error("nothing to run") }
            assertEquals(emptyList<ToolResult>() to answer.history, run.results to run.history)
        }
    }

    @Test
    fun `a tool that fails is run again, and those before it are not`() = live {
        val calls = listOf("a", "b").map { ToolCall(it, "{}", "key-$it", 0, null, null, false) }
        val answer = Answer("", Finish(FinishClass.COMPLETE, "STOP"), calls, emptyList(), emptyList())
        val ledger = MemoryLedger()
        val ran = mutableListOf<String>()
        assertFailsWith<IllegalStateException> {
            answer.runTools(ledger) { ran += it.name; check(it.name == "a") { "no network" }; "ok" }
        }
        answer.runTools(ledger) { ran += it.name; "ok" }
        assertEquals(listOf("a", "b", "b"), ran)
    }

    @Test
    fun `one of many callers with the same key runs`() = live {
        val ledger = MemoryLedger()
        var runs = 0
        val results = List(50) { async { ledger.once("k") { delay(20); runs += 1; "r" } } }.awaitAll()
        assertEquals(1 to setOf("r"), runs to results.toSet())
        assertNotEquals("r", ledger.once("other") { "s" })
    }

    @Test
    fun `any text is a JSON string`() {
        val text = "a\"\\\n\r\t\u0001é😀\u2028"
        assertEquals(text, JsonParser.parseString(jsonString(text)).asString)
        assertTrue(jsonString("").length == 2)
    }
}
