package dev.rejoin

import dev.rejoin.support.PATIENT
import dev.rejoin.support.PlainServer
import dev.rejoin.support.ask
import dev.rejoin.support.assertWhole
import dev.rejoin.support.client
import dev.rejoin.support.flaky
import dev.rejoin.support.live
import dev.rejoin.support.rendered
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.last
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch

/** Streaming over real sockets and the real library. */
class StreamTest {
    @Test
    fun `ten thousand events arrive whole and in order`() = live(2.minutes) {
        val pieces = List(10_000) { "piece $it, " }
        val send = pieces.joinToString(",") { "\"$it\"" }
        flaky("""{"send":[$send,{"finish":"STOP"}],"segment":"all"}""").use { server ->
            val began = System.nanoTime()
            val events = client(server.url).stream(ask()).toList()
            println("10,000 events in ${(System.nanoTime() - began) / 1_000_000} ms")
            assertWhole(events)
            assertEquals(pieces, events.mapNotNull { (it.kind as? EventKind.Text)?.text })
        }
    }

    @Test
    fun `a collector that is slow gets everything too`() = live {
        val send = List(200) { "\"w$it \"" }.joinToString(",")
        flaky("""{"send":[$send,{"finish":"STOP"}],"segment":"all"}""").use { server ->
            val events = mutableListOf<TurnEvent>()
            client(server.url).stream(ask()).collect { delay(2); events += it }
            assertWhole(events)
        }
    }

    @Test
    fun `a collector cancelled at random 300 times loses nothing`() = live(2.minutes) {
        val total = 4000
        PlainServer {
            stream()
            repeat(total) { text("$it "); if (it % 4 == 0) Thread.sleep(2) }
            stop()
        }.use { server ->
            val turn = client(server.url, PATIENT).start(ask())
            val handled = mutableListOf<TurnEvent>()
            val random = Random(7)
            var cancelled = 0
            while (handled.lastOrNull()?.isLast != true) {
                val job = launch {
                    turn.events(after = handled.lastOrNull()?.seq ?: 0).collect { handled += it }
                }
                if (cancelled < 300) {
                    // From before the first read to after several: also in the middle of one.
                    delay(random.nextLong(0, 8))
                    if (random.nextBoolean()) repeat(random.nextInt(200)) { Thread.onSpinWait() }
                    if (job.isActive) cancelled += 1
                    job.cancelAndJoin()
                } else {
                    job.join()
                }
            }
            println("collector cancelled $cancelled times, ${handled.size} events, none lost")
            assertEquals(300, cancelled)
            assertWhole(handled)
            assertEquals(List(total) { "$it " }, handled.mapNotNull { (it.kind as? EventKind.Text)?.text })
            turn.close()
        }
    }

    @Test
    fun `two turns at once stay apart`() = live {
        flaky(
            """{"send":["A",{"wait_ms":100},"B"],"end":"reset"}""",
            """{"send":["C",{"wait_ms":100},{"text":"D","finish":"STOP"}]}""",
        ).use { broken ->
            PlainServer { stream(); repeat(20) { text("x"); Thread.sleep(10) }; stop() }.use { fine ->
                val first = async { client(broken.url).stream(ask(turnId = "one")).toList() }
                val second = async { client(fine.url).stream(ask(turnId = "two")).toList() }
                val (one, two) = first.await() to second.await()
                assertWhole(one)
                assertWhole(two)
                assertEquals(setOf("one"), one.map { it.turn }.toSet())
                assertEquals(setOf("two"), two.map { it.turn }.toSet())
                assertEquals("CD" to "x".repeat(20), rendered(one) to rendered(two))
            }
        }
    }

    @Test
    fun `a rotated screen goes on from its cursor, and a new one needs no replay`() = live {
        PlainServer { stream(); repeat(40) { text("w$it "); Thread.sleep(10) }; stop() }.use { server ->
            val turn = client(server.url, PATIENT).start(ask())
            val seen = mutableListOf<TurnEvent>()
            val screen = launch { turn.events().collect { seen += it } }
            delay(150)
            screen.cancelAndJoin()
            val before = seen.last().seq
            delay(50)
            val snapshot = turn.snapshot()
            assertTrue(snapshot.cursor > before, "the turn runs on while nobody collects")
            turn.events(after = before).toList(seen)
            assertWhole(seen)

            val late = turn.events(after = snapshot.cursor).toList()
            assertEquals(snapshot.text + rendered(late), rendered(seen))
            val full = turn.snapshot()
            assertTrue(full.finished)
            assertEquals(rendered(seen), full.text)
            assertEquals(emptyList(), turn.events(after = full.cursor).toList())
            // The screen state as a whole, in one value, since all is there.
            val states = turn.transcript().toList()
            assertEquals(1, states.size)
            assertEquals(rendered(seen), states.single().text)
        }
    }

    @Test
    fun `a snapshot after a drop shows what a screen shows`() = live {
        flaky(
            """{"send":[{"thought":"Hm. "},"One. Tw"],"end":"reset"}""",
            """{"send":["Fresh",{"wait_ms":400},{"text":" start.","finish":"STOP"}]}""",
        ).use { server ->
            val turn = client(server.url).start(ask())
            val at = turn.events().first { it.attempt == 2 && it.kind is EventKind.Text }
            val snapshot = turn.snapshot()
            assertEquals("Fresh" to "", snapshot.text to snapshot.thoughts)
            assertEquals(at.seq to 2, snapshot.cursor to snapshot.attempt)
            assertEquals(Strategy.RESTART, snapshot.strategy)
            assertEquals(SnapshotReset(2, 0, ResetReason.Dropped(Cause.RESET)), snapshot.lastReset)
            assertEquals("Fresh start.", turn.await().text)
        }
    }

    @Test
    fun `the first event and the last are not held up by the pacing`() = live {
        PlainServer { stream(); text("A"); Thread.sleep(300); text("B"); stop() }.use { server ->
            val began = System.nanoTime()
            val at = mutableListOf<Pair<String, Long>>()
            client(server.url, PATIENT.copy(finishGraceMs = 0)).stream(ask()).collect {
                at += it.kind::class.java.simpleName to (System.nanoTime() - began) / 1_000_000
            }
            println("first and last: $at")
            assertEquals("AttemptStarted", at.first().first)
            // B and the end come within one frame of each other; two frames would be a pause.
            val b = at.last { it.first == "Text" }.second
            assertTrue(at.last().second - b < 34, "$at")
        }
    }

    @Test
    fun `headers are asked for before each attempt, and a provider that throws is tried again`() = live {
        PlainServer { request ->
            stream()
            if (request == 1) text("wo") else { text("word"); stop() }
        }.use { server ->
            val calls = AtomicInteger()
            val turn = Rejoin.client(
                baseUrl = server.url,
                policy = PATIENT,
                headers = mapOf("x-app" to "a1"),
                headerProvider = { attempt ->
                    if (calls.incrementAndGet() == 1) error("App Check is not ready")
                    mapOf("authorization" to "Bearer $attempt")
                },
            ).start(ask())
            val events = turn.events().toList()
            assertWhole(events)
            val unsent = events.firstNotNullOf { it.kind as? EventKind.Dropped }
            assertEquals(Cause.UNREACHABLE, unsent.cause)
            assertTrue("App Check is not ready" in unsent.detail.orEmpty(), unsent.detail)
            assertEquals(listOf("Bearer 2", "Bearer 3"), server.requests.map { it.header("authorization") })
            assertEquals(setOf("a1"), server.requests.map { it.header("x-app") }.toSet())
            turn.close()
        }
    }

    @Test
    fun `signals reach the turn`() = live {
        PlainServer { request ->
            stream()
            if (request == 1) { text("wo"); untilClosed() } else { text("word"); stop() }
        }.use { server ->
            val turn = client(server.url, PATIENT).start(ask())
            turn.events().first { it.kind is EventKind.Text }
            turn.signal(Signal.NETWORK_CHANGED)
            val dropped = turn.events().first { it.kind is EventKind.Dropped }.kind as EventKind.Dropped
            assertEquals(Cause.NETWORK_CHANGED, dropped.cause)
            assertEquals("word", turn.await().text)
        }
    }

    @Test
    fun `what cannot be used is said before anything is sent`() = live {
        assertFailsWith<RejoinException.InvalidArgument> { Rejoin.client(baseUrl = "ftp://x") }
        assertFailsWith<RejoinException.InvalidArgument> { Rejoin.client(baseUrl = "http://10.0.2.2") }
        Rejoin.client(baseUrl = "http://10.0.2.2", allowPlainHttp = true)
        assertFailsWith<RejoinException.InvalidArgument> { Rejoin.client(headers = mapOf("a b" to "c")) }
        assertFailsWith<RejoinException.InvalidArgument> { Rejoin.client(policy = Policy(maxAttempts = -1)) }
        assertFailsWith<RejoinException.InvalidArgument> { Rejoin.effectKey("t", "f", "{") }
        PlainServer { status(500) }.use { server ->
            val client = client(server.url)
            for (request in listOf(
                TurnRequest("no such model", "x"),
                TurnRequest("m"),
                TurnRequest("m", "x", raw = "{}"),
                TurnRequest("m", "x", schema = "[]"),
                TurnRequest("m", "x", tools = listOf(Tool("t", parameters = "nonsense"))),
                TurnRequest("m", "x", policy = Policy(backoffJitter = 2.0)),
            )) {
                val error = assertFailsWith<RejoinException.InvalidArgument>("$request") { client.stream(request).collect() }
                assertEquals(ErrorKind.INVALID_ARGUMENT, error.kind)
                assertNull(error.failure)
            }
            val candidates = TurnRequest("m", "x", generationConfig = """{"candidateCount":2}""")
            val error = assertFailsWith<RejoinException.InvalidArgument> { client.ask(candidates) }
            assertEquals(emptyList(), error.failure?.attempts)
            assertEquals(0, server.requests.size)
        }
    }

    @Test
    fun `a refusal that no retry cures has a kind and keeps the key to itself`() = live {
        PlainServer { status(401) }.use { server ->
            val error = assertFailsWith<RejoinException.Unauthorized> { client(server.url).ask(ask()) }
            assertEquals(ErrorKind.UNAUTHORIZED to 401, error.kind to error.httpStatus)
            assertTrue("test-key" !in error.toString())
            assertIs<EventKind.Failed>(client(server.url).stream(ask()).last().kind)
        }
    }

    @Test
    fun `the body of the usual case is what the model gets`() = live {
        flaky("""{"send":[{"text":"{}","finish":"STOP"}]}""").use { server ->
            val answer = client(server.url).ask(
                TurnRequest(
                    model = "m",
                    prompt = "Hi",
                    system = "Be brief.",
                    history = listOf("""{"role":"user","parts":[{"text":"a"}]}""", """{"role":"model","parts":[{"text":"b"}]}"""),
                    schema = """{"type":"object"}""",
                    generationConfig = """{"temperature":0.1}""",
                ),
            )
            assertEquals("{}", answer.text)
        }
    }
}
