package dev.rejoin.sample

import android.content.SharedPreferences
import dev.rejoin.EffectLedger
import dev.rejoin.ToolCall
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import org.json.JSONObject

/**
 * Stands in for the shop's server: pays refunds and counts how often it was really asked to, which
 * is what the screen shows. It does not check for repeats on purpose: that is the ledger's work.
 */
class RefundDesk {
    private val count = AtomicInteger()

    /** How many refunds were paid. */
    val paid: Int get() = count.get()

    /** Pays, and answers as the model is to read it. */
    fun run(call: ToolCall): String {
        val number = count.incrementAndGet()
        return JSONObject().put("paid", true).put("receipt", number).toString()
    }
}

/**
 * An effect ledger that outlives the process: a turn that is asked again under its id after the
 * system has killed the app pays nothing twice. A crash between the payment and the entry is the
 * one gap; a real shop closes it by taking the effect key as its own idempotency key.
 */
class SavedLedger(open: () -> SharedPreferences) : EffectLedger {
    private val running = Mutex()

    // Opening reads a file: not before a background thread needs it.
    private val saved by lazy(open)

    override suspend fun once(key: String, effect: suspend () -> String): String =
        running.withLock {
            saved.getString(key, null) ?: effect().also { result ->
                // Written before anybody hears of it; callers are on a background thread.
                check(saved.edit().putString(key, result).commit()) { "the ledger is not writable" }
            }
        }
}
