package dev.rejoin

import com.google.gson.JsonParser
import dev.rejoin.support.QUICK
import dev.rejoin.support.ask
import dev.rejoin.support.client
import dev.rejoin.support.flaky
import dev.rejoin.support.live
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertNull
import kotlin.test.assertTrue

/** What a turn cost, what broke in it, and how to play it again. */
class StatisticsTest {
    private val broken = """
        {"send":["Secret words."],"usage":[10,40,0],"end":"reset"},
        {"send":["Other words.",{"finish":"STOP"}],"usage":[10,30,0]}
    """.trimIndent()

    @Test
    fun `each drop is a line without its words once the turn is over`() = live {
        flaky(broken).use { server ->
            val turn = client(server.url).start(ask(turnId = "anna-7"))
            val answer = turn.await()
            val line = turn.dropLog().single()
            val drop = JsonParser.parseString(line).asJsonObject
            assertEquals("reset", drop["cause"].asString)
            assertEquals(40, drop["received_tokens"].asInt)
            assertEquals("restart", drop["next"].asJsonObject["strategy"].asString)
            assertTrue("Secret" !in line && "anna" !in line, line)
            assertEquals(listOf(null, null), answer.attempts.map { it.seam })
        }
    }

    @Test
    fun `a recording is there after the end, if it was asked for, without words`() = live {
        flaky(broken).use { server ->
            val client = client(server.url)
            val plain = client.start(ask()).also { it.await() }
            assertNull(plain.recording())
        }
        flaky(broken).use { server ->
            val turn = client(server.url).start(ask().copy(record = Recording.SHAPE))
            turn.await()
            val recording = checkNotNull(turn.recording())
            assertTrue("Secret" !in recording && "Go on" !in recording, recording)
            assertEquals("recording", JsonParser.parseString(recording.lines().first()).asJsonObject["type"].asString)
        }
    }

    @Test
    fun `a turn says what it cost and a client adds it up`() = live {
        flaky(broken).use { server ->
            val policy = QUICK.copy(inputPrice = 1.0, outputPrice = 4.0)
            val client = client(server.url, policy)
            val spend = checkNotNull(client.ask(ask()).spend)
            assertEquals(20L to 70L, spend.inputTokens to spend.outputTokens)
            assertEquals(0.000_3, checkNotNull(spend.money), 1e-9)
            assertTrue(spend.lowerBound)
            assertEquals(spend, client.spent())
        }
    }

    @Test
    fun `a budget that is used up fails the next attempt, and a new turn sends nothing`() = live {
        flaky(broken).use { server ->
            val client = Rejoin.client(
                apiKey = "test-key",
                baseUrl = server.url,
                policy = QUICK,
                budget = Budget(outputTokens = 40),
            )
            val failed = assertFailsWith<RejoinException> { client.ask(ask()) }
            assertEquals(ErrorKind.SPEND_USED_UP, failed.kind)
            assertEquals("Secret words.", failed.partialText)
            val second = assertFailsWith<RejoinException> { client.ask(ask()) }
            assertEquals(ErrorKind.SPEND_USED_UP, second.kind)
            assertEquals(40, client.spent().outputTokens)
        }
        assertFailsWith<RejoinException.InvalidArgument> {
            Rejoin.client(policy = Policy(maxSpend = 1.0))
        }
    }
}
