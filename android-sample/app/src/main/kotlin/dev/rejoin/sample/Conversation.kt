package dev.rejoin.sample

import android.os.SystemClock
import dev.rejoin.DeviceSignals
import dev.rejoin.EffectLedger
import dev.rejoin.Rejoin
import dev.rejoin.RejoinClient
import dev.rejoin.RejoinException
import dev.rejoin.Signal
import dev.rejoin.TurnRequest
import dev.rejoin.runTools
import java.util.UUID
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch

/**
 * The exchanges of one screen and the turns behind them. Held across rotation, so that no turn
 * dies with an Activity; all that may block (loading the library, the ledger's file) happens on
 * background threads.
 */
class Conversation(private val ledger: EffectLedger, val desk: RefundDesk) {
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    private val clients = mutableMapOf<Any, RejoinClient>()
    private val list = mutableListOf<Exchange>()

    /** Passes what the device says on to the turns that run, and to those that begin later. */
    val device = DeviceSignals()

    /** Told of every change, on any thread. */
    @Volatile var changed: () -> Unit = {}

    @Volatile var settings = Settings()

    /** Oldest first. Changes on the main thread only. */
    val exchanges: List<Exchange> get() = list

    val running: Exchange? get() = list.lastOrNull()?.takeIf { it.running }

    /** Asks, and returns at once. [turnId] is given where a turn is run again. */
    fun ask(question: String, turnId: String = UUID.randomUUID().toString()): Exchange {
        val settings = settings
        val story = settings.story?.takeIf { !settings.usesGemini }
        val exchange = Exchange(question, turnId, story)
        exchange.present(settings.presentation)
        val history = list.filter { it.screen().transcript.completed != null }
        list += exchange
        scope.launch { run(exchange, settings, historyOf(history)) }
        return exchange
    }

    /** Puts back what the last process had on its screen. */
    fun restore(exchange: Exchange) {
        list += exchange
    }

    fun forget(exchange: Exchange) {
        list -= exchange
    }

    fun cancel() = running?.turnOrNull()?.cancel()

    /** Tells the running turn what the device has not said. */
    fun signal(signal: Signal) {
        running?.turnOrNull()?.signal(signal)
    }

    /** Ends all turns: the user has left for good. */
    fun close() {
        list.forEach { it.turnOrNull()?.close() }
        scope.cancel()
    }

    private suspend fun run(exchange: Exchange, settings: Settings, history: List<String>) {
        try {
            val turn = client(settings, exchange.turnId).start(request(exchange, settings, history))
            device.attach(turn)
            exchange.begin(turn)
            val answer = try {
                turn.await()
            } finally {
                device.detach(turn)
            }
            // From here on the answer is whole: this is the one place where calls may be run.
            val run = answer.runTools(ledger) { desk.run(it) }
            exchange.paid = run.results.map { PaidCall(it.call, it.response) }
        } catch (e: RejoinException.InvalidArgument) {
            exchange.refusal = e.message
        } catch (_: RejoinException) {
            // A turn that failed says so in its last event, which the screen shows.
        }
        changed()
    }

    private fun request(exchange: Exchange, settings: Settings, history: List<String>) =
        TurnRequest(
            model = settings.model,
            prompt = exchange.question,
            history = history,
            tools = exchange.story?.tools.orEmpty(),
            generationConfig =
                if (exchange.story?.json == true) """{"responseMimeType": "application/json"}"""
                else null,
            turnId = exchange.turnId,
            policy = exchange.story?.policy,
        )

    private fun client(settings: Settings, turnId: String): RejoinClient {
        val url = settings.baseUrl(turnId)
        val key = Triple(url, settings.apiKey, settings.policy)
        return synchronized(clients) {
            // Kept: the turns of one client share connections.
            clients.getOrPut(key) {
                Rejoin.client(
                    apiKey = settings.apiKey.secret.ifEmpty { null },
                    baseUrl = url,
                    policy = settings.policy.policy,
                    // The flaky server knows no TLS; a key goes nowhere without it.
                    allowPlainHttp = settings.apiKey.secret.isEmpty(),
                )
            }
        }
    }

    private fun historyOf(earlier: List<Exchange>): List<String> = earlier.flatMap { exchange ->
        val answer = exchange.screen().transcript.completed ?: return@flatMap emptyList()
        listOf(userSaid(exchange.question)) + answer.history
    }

    private fun userSaid(text: String) = org.json.JSONObject()
        .put("role", "user")
        .put("parts", org.json.JSONArray().put(org.json.JSONObject().put("text", text)))
        .toString()

    companion object {
        /** Milliseconds that go on in deep sleep: what a countdown has to run on. */
        fun clock(): Long = SystemClock.elapsedRealtime()
    }
}
