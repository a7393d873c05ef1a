package dev.rejoin

import dev.rejoin.support.PATIENT
import dev.rejoin.support.PlainServer
import dev.rejoin.support.ask
import dev.rejoin.support.client
import dev.rejoin.support.live
import java.net.ServerSocket
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlin.test.assertTrue
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.last
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch

/** Cancelling in every phase of a turn: the socket closes, and nothing follows. */
class CancelTest {
    private val closed = CompletableFuture<Boolean>()

    /** A server that goes as far as [phase] and then waits for the client to close. */
    private fun stuck(phase: PlainServer.Connection.() -> Unit) = PlainServer {
        phase()
        closed.complete(untilClosed())
    }

    private fun assertSocketClosed() = assertTrue(closed.get(6, TimeUnit.SECONDS), "the socket stayed open")

    private suspend fun CoroutineScope.cancelledIn(
        server: PlainServer,
        policy: Policy = PATIENT,
        until: (TurnEvent) -> Boolean = { it.kind is EventKind.AttemptStarted },
    ): Failure {
        val turn = client(server.url, policy).start(ask())
        turn.events().first(until)
        server.awaitRequest()
        val pending = async { turn.events().last() }
        delay(50)
        val before = System.nanoTime()
        turn.cancel()
        val last = assertIs<EventKind.Failed>(pending.await().kind)
        assertTrue((System.nanoTime() - before) / 1_000_000 < 1000, "a pending read did not complete")
        assertEquals(ErrorKind.CANCELLED, last.failure.kind)
        val requests = server.requests.size
        delay(150)
        assertEquals(requests, server.requests.size, "a request followed")
        turn.close()
        return last.failure
    }

    @Test
    fun `before the head`() = live {
        stuck { }.use { cancelledIn(it); assertSocketClosed() }
    }

    @Test
    fun `after the head, before a byte`() = live {
        stuck { stream() }.use { cancelledIn(it); assertSocketClosed() }
    }

    @Test
    fun `while the model thinks`() = live {
        stuck { stream(); thought("Hm. ") }.use { server ->
            cancelledIn(server) { it.kind is EventKind.Thought }
            assertSocketClosed()
        }
    }

    @Test
    fun `in mid-answer`() = live {
        stuck { stream(); text("Half an ans") }.use { server ->
            val failure = cancelledIn(server) { it.kind is EventKind.Text }
            assertEquals("Half an ans", failure.partialText)
            assertSocketClosed()
        }
    }

    @Test
    fun `after the finish reason, while the connection stays open`() = live {
        val open = PATIENT.copy(finishGraceMs = 30_000)
        stuck { stream(); text("Done."); stop() }.use { server ->
            cancelledIn(server, open) { it.kind is EventKind.Text }
            assertSocketClosed()
        }
    }

    @Test
    fun `in a pause before the next attempt`() = live {
        PlainServer { status(503) }.use { server ->
            val slow = PATIENT.copy(backoffBaseMs = 20_000)
            cancelledIn(server, slow) { it.kind is EventKind.Waiting }
            assertEquals(1, server.requests.size)
        }
    }

    @Test
    fun `at the seam of a continuation`() = live {
        val low = PATIENT.copy(minContinueTokens = 1)
        PlainServer { request ->
            stream()
            if (request == 1) {
                text("Rivers run to the sea. Some of th")
            } else {
                text("Some")
                closed.complete(untilClosed())
            }
        }.use { server ->
            val failure = cancelledIn(server, low) { it.attempt == 2 && it.kind is EventKind.AttemptStarted }
            assertEquals(Strategy.CONTINUE, failure.attempts.last().strategy)
            assertSocketClosed()
        }
    }

    @Test
    fun `while the rest is fetched in one piece`() = live {
        PlainServer { request ->
            if (request <= 2) { stream(); text("wo") } else closed.complete(untilClosed())
        }.use { server ->
            val failure = cancelledIn(server) { it.attempt == 3 && it.kind is EventKind.AttemptStarted }
            assertEquals(Strategy.NON_STREAMING, failure.attempts.last().strategy)
            assertSocketClosed()
        }
    }

    @Test
    fun `while the app's header provider blocks`() = live {
        PlainServer { stream(); text("never") }.use { server ->
            val asked = CompletableFuture<Unit>()
            val turn = Rejoin.client(
                baseUrl = server.url,
                headerProvider = { asked.complete(Unit); Thread.sleep(2000); emptyMap() },
            ).start(ask())
            asked.get(5, TimeUnit.SECONDS)
            turn.cancel()
            val error = assertFailsWith<RejoinException.Cancelled> { turn.await() }
            assertEquals(ErrorKind.CANCELLED, error.kind)
            assertEquals(0, server.requests.size)
        }
    }

    @Test
    fun `while nobody listens`() = live {
        val port = ServerSocket(0).use { it.localPort }
        val turn = client("http://127.0.0.1:$port", PATIENT.copy(backoffBaseMs = 20_000)).start(ask())
        turn.events().first { it.kind is EventKind.Waiting }
        turn.cancel()
        assertFailsWith<RejoinException.Cancelled> { turn.await() }
    }

    @Test
    fun `after the end nothing happens`() = live {
        PlainServer { stream(); text("All."); stop() }.use { server ->
            val turn = client(server.url).start(ask())
            assertEquals("All.", turn.await().text)
            turn.cancel()
            assertIs<EventKind.Completed>(turn.events().last().kind)
            turn.close()
            turn.close()
        }
    }

    @Test
    fun `a collector of stream that goes away closes the socket`() = live {
        stuck { stream(); text("Half") }.use { server ->
            val job = launch { client(server.url, PATIENT).stream(ask()).collect { } }
            server.awaitRequest()
            delay(100)
            job.cancelAndJoin()
            assertSocketClosed()
        }
    }

    @Test
    fun `a collector that has enough closes the socket`() = live {
        stuck { stream(); text("Half") }.use { server ->
            client(server.url, PATIENT).stream(ask()).first { it.kind is EventKind.Text }
            assertSocketClosed()
        }
    }

    @Test
    fun `a collector that throws closes the socket`() = live {
        stuck { stream(); text("Half") }.use { server ->
            assertFailsWith<ArithmeticException> {
                client(server.url, PATIENT).stream(ask()).collect {
                    if (it.kind is EventKind.Text) throw ArithmeticException()
                }
            }
            assertSocketClosed()
        }
    }

    @Test
    fun `a collector of a kept turn that goes away leaves it running`() = live {
        PlainServer {
            stream(); text("One, "); Thread.sleep(300); text("two."); stop()
        }.use { server ->
            val turn = client(server.url, PATIENT).start(ask())
            turn.events().first { it.kind is EventKind.Text }
            assertEquals("One, two.", turn.await().text)
            assertEquals(1, server.requests.size)
        }
    }

    @Test
    fun `an awaiting coroutine that goes away cancels ask, and not a turn`() = live {
        stuck { stream(); text("Half") }.use { server ->
            val asking = launch { client(server.url, PATIENT).ask(ask()) }
            server.awaitRequest()
            delay(50)
            asking.cancelAndJoin()
            assertSocketClosed()
        }
        PlainServer { stream(); text("One, "); Thread.sleep(200); text("two."); stop() }.use { server ->
            val turn = client(server.url, PATIENT).start(ask())
            val waiting = launch { turn.await() }
            server.awaitRequest()
            waiting.cancelAndJoin()
            assertEquals("One, two.", turn.await().text)
        }
    }

    @Test
    fun `closing while many collect ends them all with the last event`() = live {
        stuck { stream(); text("Half") }.use { server ->
            val turn = client(server.url, PATIENT).start(ask())
            val ends = List(20) { async { turn.events().toList().last() } }
            turn.events().first { it.kind is EventKind.Text }
            turn.close()
            ends.forEach { assertIs<EventKind.Failed>(it.await().kind) }
            ends.joinAll()
            turn.close()
            assertEquals("Half", turn.snapshot().text)
            assertIs<EventKind.Failed>(turn.events().last().kind)
        }
    }
}
