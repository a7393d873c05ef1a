package dev.rejoin

import java.util.concurrent.ConcurrentHashMap
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

/** Remembers which effects have been made, by effect key, and what came of them. */
interface EffectLedger {
    /**
     * The result recorded under [key]; else runs [effect] and records what it returns. Of callers
     * with the same key at the same time one runs, and the others wait for its result. If
     * [effect] throws or is cancelled, nothing is recorded: the next caller runs it again.
     */
    suspend fun once(key: String, effect: suspend () -> String): String

    companion object {
        /**
         * Opens the ledger of a folder, which survives the process, or begins one. Reads a file.
         *
         * @param folder one of the app alone, such as one in Android's `noBackupFilesDir`.
         * @param rule what [once] does with an effect of which nobody knows whether it happened.
         * @throws StorageException if it cannot be opened. One that is `DAMAGED` is left as it is:
         *   see [DurableLedger.setAside].
         */
        fun open(folder: String, rule: EffectRule = EffectRule.Never): DurableLedger =
            translating { DurableLedger(NativeLedger.open(folder), rule) }
    }
}

/** A ledger for the life of the process. Safe to use from any thread. */
class MemoryLedger : EffectLedger {
    private class Entry {
        val running = Mutex()

        @Volatile var result: String? = null
    }

    private val entries = ConcurrentHashMap<String, Entry>()

    override suspend fun once(key: String, effect: suspend () -> String): String {
        val fresh = Entry()
        val entry = entries.putIfAbsent(key, fresh) ?: fresh
        return entry.result ?: entry.running.withLock {
            entry.result ?: effect().also { entry.result = it }
        }
    }
}

/**
 * What came of one call.
 *
 * @property call the call.
 * @property response what the tool returned.
 */
data class ToolResult(val call: ToolCall, val response: String)

/**
 * What came of all calls of an answer.
 *
 * @property results in the order of the calls; empty where the answer called nothing.
 * @property history the contents to append for the next turn: the answer's, and one with the
 *   results if there were calls.
 */
data class ToolRun(val results: List<ToolResult>, val history: List<String>)

/**
 * Runs the calls of this answer, one after the other, each **once** under its effect key: a call
 * that [ledger] knows is not run again, its recorded result is taken. Calls of tools declared
 * `readOnly` are run without the ledger.
 *
 * What [run] returns goes to the model as the function's response: a JSON object, or any other
 * text, which is wrapped as `{"result": "…"}`. What it throws ends the run and reaches the
 * caller; results up to there are in the ledger, so that running again repeats none of them.
 */
suspend fun Answer.runTools(ledger: EffectLedger, run: suspend (ToolCall) -> String): ToolRun {
    val results = toolCalls.map { call ->
        val response =
            if (call.readOnly) run(call) else ledger.once(call.effectKey) { run(call) }
        ToolResult(call, response)
    }
    if (results.isEmpty()) return ToolRun(results, history)
    return ToolRun(results, history + responses(results))
}

private fun responses(results: List<ToolResult>): String =
    results.joinToString(",", """{"role":"user","parts":[""", "]}") { (call, response) ->
        // The id is echoed if and only if the provider gave one.
        val id = call.providerId?.let { """"id":${jsonString(it)},""" }.orEmpty()
        val body =
            if (response.trimStart().startsWith("{")) response
            else """{"result":${jsonString(response)}}"""
        """{"functionResponse":{$id"name":${jsonString(call.name)},"response":$body}}"""
    }

internal fun jsonString(text: String): String = buildString(text.length + 2) {
    append('"')
    for (c in text) {
        when {
            c == '"' || c == '\\' -> append('\\').append(c)
            c == '\n' -> append("\\n")
            c == '\r' -> append("\\r")
            c == '\t' -> append("\\t")
            c < ' ' -> append("\\u").append(c.code.toString(16).padStart(4, '0'))
            else -> append(c)
        }
    }
    append('"')
}
