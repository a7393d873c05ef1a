package dev.rejoin

import com.google.gson.JsonObject
import com.google.gson.JsonParser
import dev.rejoin.support.FlakyServer
import dev.rejoin.support.assertWhole
import dev.rejoin.support.live
import dev.rejoin.support.repositoryFile
import java.io.File
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withPermit

/** Every fault script of the repository, through the Kotlin API: what the user sees is right. */
class FaultScriptsTest {
    private val strategies = mutableSetOf<Strategy>()

    @Test
    fun `every fault script ends as it says`() = live(5.minutes) {
        val scripts = repositoryFile("tests/faults").listFiles { file -> file.extension == "json" }!!
        assertTrue(scripts.size > 100)
        // Enough at once to be quick, few enough that two cores keep the scripts' times.
        val slots = Semaphore(6)
        val wrong = scripts.sortedBy { it.name }.map { file ->
            async { slots.withPermit { runCatching { play(file) }.exceptionOrNull()?.let { "${file.name}: $it" } } }
        }.awaitAll().filterNotNull()
        println("fault scripts through Kotlin: ${scripts.size}, wrong: ${wrong.size}")
        assertEquals(emptyList(), wrong)
        assertEquals(Strategy.entries.toSet(), strategies)
    }

    private suspend fun play(file: File) {
        val script = JsonParser.parseString(file.readText()).asJsonObject
        FlakyServer(file).use { server ->
            val client = dev.rejoin.support.client(server.url, policy(script["policy"]?.asJsonObject))
            client.start(request(script)).use { turn -> check(script, collect(turn, script["cancel"]?.asJsonObject)) }
        }
    }

    private suspend fun collect(turn: Turn, cancel: JsonObject?): List<TurnEvent> {
        val events = mutableListOf<TurnEvent>()
        val on = cancel?.text("on")
        kotlinx.coroutines.coroutineScope {
            val later = cancel?.get("after_ms")?.asLong?.let { launch { delay(it); turn.cancel() } }
            turn.events().collect { event ->
                events += event
                if (on != null && typeOf(event.kind) == on) turn.cancel()
            }
            later?.cancel()
        }
        return events
    }

    private fun check(script: JsonObject, events: List<TurnEvent>) {
        assertWhole(events)
        val expect = script.obj("expect")
        assertEquals(expect.text("end"), typeOf(events.last().kind))
        val attempts = when (val last = events.last().kind) {
            is EventKind.Completed -> {
                val answer = last.answer
                expect.text("text")?.let { assertEquals(it, answer.text) }
                expect["finish"]?.asJsonObject?.text("class")?.let { assertEquals(it, answer.finish.`class`.wire) }
                expect["tools"]?.asJsonArray?.map { it.asJsonObject }?.let { tools ->
                    assertEquals(tools.map { it.text("name") }, answer.toolCalls.map { it.name })
                    assertEquals(
                        tools.map { it["args"] },
                        answer.toolCalls.map { JsonParser.parseString(it.args) },
                    )
                }
                answer.attempts
            }
            is EventKind.Failed -> {
                expect.text("partial_text")?.let { assertEquals(it, last.failure.partialText) }
                expect["error"]?.asJsonObject?.text("kind")?.let { assertEquals(it, last.failure.kind.wire) }
                last.failure.attempts
            }
            else -> error("no end")
        }
        synchronized(strategies) { strategies += attempts.map { it.strategy } }
        val expected = expect["attempts"]?.asJsonArray
        if (expected != null && expected.none { it.isJsonPrimitive }) {
            assertEquals(expected.size(), attempts.size)
            expected.map { it.asJsonObject }.zip(attempts).forEach { (want, got) ->
                want.text("strategy")?.let { assertEquals(it, got.strategy.wire) }
                want.text("outcome")?.let { assertEquals(it, got.outcome.wire) }
                want.text("cause")?.let { assertEquals(it, got.cause?.wire) }
            }
        }
        val reducer = TranscriptReducer()
        val shown = events.map { reducer.apply(it); reducer.current().text }
        expect.texts("never").forEach { never -> assertTrue(shown.none { never in it }, "shows «$never»") }
    }

    private fun request(script: JsonObject): TurnRequest {
        val request = script.obj("request")
        val turnId = script.text("turn_id")
        request["body"]?.let { return TurnRequest("m", raw = it.toString(), turnId = turnId) }
        val tools = request.texts("tools").map { Tool(it, parameters = """{"type":"object"}""") }
        return TurnRequest("m", request.text("prompt"), request.text("system"), tools = tools, turnId = turnId)
    }

    private fun policy(json: JsonObject?): Policy {
        fun long(name: String, default: Long?) = json?.get(name)?.asLong ?: default
        val known = Policy::class.java.declaredFields.map { snake(it.name) }
        json?.keySet()?.forEach { assertTrue(it in known, "no policy field $it") }
        return Policy(
            minContinueTokens = long("min_continue_tokens", null),
            deepThinkingTokens = long("deep_thinking_tokens", null),
            maxAttempts = json?.get("max_attempts")?.asInt,
            maxUnsent = json?.get("max_unsent")?.asInt,
            streamDropsBeforeFallback = json?.get("stream_drops_before_fallback")?.asInt,
            maxOutputSpendTokens = long("max_output_spend_tokens", null),
            maxSpend = json?.get("max_spend")?.asDouble,
            inputPrice = json?.get("input_price")?.asDouble,
            cachedPrice = json?.get("cached_price")?.asDouble,
            outputPrice = json?.get("output_price")?.asDouble,
            continueTemperature = json?.get("continue_temperature")?.asDouble,
            seamHoldChars = long("seam_hold_chars", null),
            seamHoldMs = long("seam_hold_ms", null),
            maxEventBytes = long("max_event_bytes", null),
            connectTimeoutMs = long("connect_timeout_ms", 1000),
            firstByteTimeoutMs = long("first_byte_timeout_ms", 1500),
            idleTimeoutMs = long("idle_timeout_ms", 700),
            finishGraceMs = long("finish_grace_ms", 300),
            nonStreamingTimeoutMs = long("non_streaming_timeout_ms", 1500),
            backoffBaseMs = long("backoff_base_ms", 20),
            backoffMaxMs = long("backoff_max_ms", null),
            backoffJitter = json?.get("backoff_jitter")?.asDouble ?: 0.0,
            offlineWaitMs = long("offline_wait_ms", null),
            suspendGapMs = long("suspend_gap_ms", null),
        )
    }

    private fun snake(name: String) = name.replace(Regex("[A-Z]")) { "_" + it.value.lowercase() }

    private fun typeOf(kind: EventKind) = snake(kind::class.java.simpleName.replaceFirstChar(Char::lowercase))
}
