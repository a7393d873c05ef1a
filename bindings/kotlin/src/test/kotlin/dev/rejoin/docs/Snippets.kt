package dev.rejoin.docs

// Every snippet of docs/kotlin.md, word for word: DocsTest compares, the compiler checks.

import android.net.ConnectivityManager
import android.net.Network
import android.net.NetworkCapabilities
import androidx.lifecycle.DefaultLifecycleObserver
import androidx.lifecycle.LifecycleOwner
import androidx.lifecycle.ViewModel
import androidx.lifecycle.viewModelScope
import dev.rejoin.*
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext

interface Shop {
    suspend fun knows(key: String): Boolean
    suspend fun refund(args: String, idempotencyKey: String): String
}

private fun currentToken() = "token"

private fun userSaid(text: String) = listOf("""{"role":"user","parts":[{"text":"$text"}]}""")

@Suppress("unused")
private class Snippets(private val key: String) {
    val rejoin = Rejoin.client(apiKey = key)

    suspend fun show(question: String, screen: (String, String?) -> Unit) {
        val request = TurnRequest(model = "gemini-2.5-flash", prompt = question)
        rejoin.stream(request)
            .transcript()
            .collect { screen(it.text, it.statusLine) }
    }

    suspend fun render(events: Flow<TurnEvent>, buffer: StringBuilder) = events.collect { event ->
        when (val kind = event.kind) {
            is EventKind.Text -> buffer.append(kind.text)
            is EventKind.Reset -> buffer.setLength(kind.keepUtf16.toInt())
            else -> Unit
        }
    }

    suspend fun answerOrAdvice(question: String): String = try {
        rejoin.ask(TurnRequest(model = "gemini-2.5-flash", prompt = question)).text
    } catch (e: RejoinException) {
        when (e.kind) {
            ErrorKind.UNREACHABLE, ErrorKind.ATTEMPTS_USED_UP -> e.partialText + "\n(Try again.)"
            ErrorKind.UNAUTHORIZED -> "Sign in again."
            else -> "This did not work: ${e.message}"
        }
    }

    val careful = Rejoin.client(
        apiKey = key,
        policy = Policy(maxSpend = 0.01, inputPrice = 0.30, outputPrice = 2.50),
        budget = Budget(money = 5.0),
    )

    suspend fun askAndLog(request: TurnRequest, log: (String) -> Unit): Answer {
        val turn = careful.start(request.copy(record = Recording.SHAPE))
        try {
            return turn.await()
        } catch (e: RejoinException) {
            turn.recording()?.let(log)
            throw e
        } finally {
            turn.dropLog().forEach(log)
        }
    }

    fun followUp(history: List<String>) = TurnRequest(
        model = "gemini-2.5-flash",
        system = "Answer in two sentences.",
        history = history,
        prompt = "And in winter?",
        generationConfig = """{"temperature": 0.7}""",
        policy = Policy(maxAttempts = 6),
    )

    val withTokens = Rejoin.client(
        headerProvider = { mapOf("Authorization" to "Bearer ${currentToken()}") },
    )

    val refund = Tool(
        name = "refund",
        description = "Pays an order back.",
        parameters = """{"type": "object", "properties": {"order": {"type": "integer"}, "note": {"type": "string"}}}""",
        keyFields = listOf("order"),
    )

    suspend fun refundOnce(ledger: EffectLedger, shop: Shop): Answer {
        val request = TurnRequest(model = "gemini-2.5-flash", prompt = "Refund order 7.", tools = listOf(refund))
        val answer = rejoin.ask(request)
        val run = answer.runTools(ledger) { call -> shop.refund(call.args, idempotencyKey = call.effectKey) }
        return rejoin.ask(request.copy(prompt = null, history = userSaid("Refund order 7.") + run.history))
    }

    fun keeping(folder: String) = Rejoin.client(apiKey = key, journal = JournalConfig(folder = folder))

    suspend fun goOn(client: RejoinClient, show: (Turn) -> Unit) = withContext(Dispatchers.IO) {
        for (kept in client.journaled().filterNot { it.over }) {
            try {
                show(client.restore(kept.turnId))
            } catch (e: StorageException) {
                client.forget(kept.turnId)
            }
        }
    }

    suspend fun refundDurably(answer: Answer, folder: String, shop: Shop): ToolRun {
        val ledger = EffectLedger.open(folder)
        return answer.runTools(ledger, rule = { call ->
            when (call.name) {
                "refund" -> EffectRule.Ask { key -> if (shop.knows(key)) EffectRule.Finding.Happened("{}") else EffectRule.Finding.DidNotHappen }
                else -> EffectRule.Never
            }
        }) { call -> shop.refund(call.args, idempotencyKey = call.effectKey) }
    }
}

class RejoinLifecycle(private val device: DeviceSignals, private val scope: CoroutineScope) :
    ConnectivityManager.NetworkCallback(), DefaultLifecycleObserver {

    override fun onCapabilitiesChanged(network: Network, networkCapabilities: NetworkCapabilities) =
        device.networkAvailable(network, metered = !networkCapabilities.hasCapability(NetworkCapabilities.NET_CAPABILITY_NOT_METERED))

    override fun onLost(network: Network) = device.networkLost(network)

    override fun onStop(owner: LifecycleOwner) {
        scope.launch { device.willSuspend() }
    }

    override fun onStart(owner: LifecycleOwner) = device.resumed()
}

fun watch(connectivity: ConnectivityManager, app: LifecycleOwner, device: DeviceSignals, scope: CoroutineScope) {
    val lifecycle = RejoinLifecycle(device, scope)
    connectivity.registerDefaultNetworkCallback(lifecycle)
    app.lifecycle.addObserver(lifecycle) // ProcessLifecycleOwner.get()
}

class AnswerModel(private val client: RejoinClient) : ViewModel() {
    private var turn: Turn? = null
    val screen = MutableStateFlow(Transcript())

    fun ask(question: String) {
        turn?.cancel()
        val started = client.start(TurnRequest(model = "gemini-2.5-flash", prompt = question))
        turn = started
        viewModelScope.launch { started.transcript(Presentation.HOLD).collect { screen.value = it } }
    }

    fun stop() = turn?.cancel()

    override fun onCleared() {
        turn?.close()
    }
}

class SnippetsTest {
    @Test
    fun `the screen keeps its text through a drop`() = runTest {
        val client = Rejoin.fake {
            text("Rivers run to the sea. They ca")
            drop(Cause.RESET, keep = "Rivers run to the sea.")
            pause(2.seconds)
            text(" They carry sand.")
        }
        val screens = client.stream(TurnRequest("m", "Rivers?")).transcript().toList()
        assertEquals("Interrupted. Picking up again…", screens.first { it.lastReset != null }.statusLine)
        assertEquals("Rivers run to the sea. They carry sand.", screens.last().text)
    }
}
