package dev.rejoin.support

import dev.rejoin.EventKind
import dev.rejoin.Policy
import dev.rejoin.Rejoin
import dev.rejoin.RejoinClient
import dev.rejoin.TurnEvent
import dev.rejoin.TurnRequest
import kotlin.test.assertEquals
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout

/** The numbers of a test runner (the fault scripts' README): quick, and exact waits. */
val QUICK = Policy(
    backoffBaseMs = 20,
    backoffJitter = 0.0,
    connectTimeoutMs = 1000,
    firstByteTimeoutMs = 1500,
    idleTimeoutMs = 700,
    finishGraceMs = 300,
    nonStreamingTimeoutMs = 1500,
)

/** For tests in which only the test itself ends anything. */
val PATIENT = QUICK.copy(firstByteTimeoutMs = 60_000, idleTimeoutMs = 60_000)

fun client(url: String, policy: Policy = QUICK): RejoinClient =
    Rejoin.client(apiKey = "test-key", baseUrl = url, policy = policy)

fun ask(prompt: String = "Go on.", turnId: String? = null) =
    TurnRequest(model = "m", prompt = prompt, turnId = turnId)

/** Real time on real threads: what a test of the native side needs. */
fun live(limit: Duration = 30.seconds, test: suspend CoroutineScope.() -> Unit) = runBlocking(Dispatchers.Default) {
    withTimeout(limit) { test() }
}

/** What a renderer with the two rules ends up with. */
fun rendered(events: List<TurnEvent>): String {
    val shown = StringBuilder()
    for (event in events) {
        when (val kind = event.kind) {
            is EventKind.Text -> shown.append(kind.text)
            is EventKind.Reset -> shown.setLength(kind.keepUtf16.toInt())
            else -> Unit
        }
    }
    return shown.toString()
}

/** Numbers without gaps, one end, and the renderer's invariant. */
fun assertWhole(events: List<TurnEvent>) {
    assertEquals((1L..events.size).toList(), events.map { it.seq })
    val ends = events.filter { it.kind is EventKind.Completed || it.kind is EventKind.Failed }
    assertEquals(listOf(events.last()), ends)
    (events.last().kind as? EventKind.Completed)?.let { assertEquals(it.answer.text, rendered(events)) }
}
