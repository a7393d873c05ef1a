package dev.rejoin

import java.util.concurrent.ConcurrentHashMap
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext

/** What to do with an effect that was begun and never finished: perhaps it has happened. */
sealed interface EffectRule {
    /** Never run it again: [EffectNotRun] is thrown. For what must not happen twice. */
    object Never : EffectRule

    /** Run it again. For what does no harm twice, or whose server knows effect keys. */
    object Retry : EffectRule

    /** Find out: ask a server, or the user. */
    class Ask(val find: suspend (key: String) -> Finding) : EffectRule

    /** What the app found out. */
    sealed interface Finding {
        /** It has happened, with this result: it is recorded, and not run. */
        class Happened(val result: String) : Finding

        /** It has not happened: it is run. */
        object DidNotHappen : Finding

        /** That cannot be found out: [EffectNotRun] is thrown. */
        object StillUnknown : Finding
    }
}

/**
 * An effect was not run, because it may have happened already.
 *
 * @property key its effect key.
 * @property state how the ledger knows it: `Unknown`, or `InFlight` where somebody else runs it.
 */
class EffectNotRun(val key: String, val state: EffectState) :
    Exception("the effect $key was not run: $state")

/**
 * A ledger that survives the process: that an effect is begun is on the disk before its tool runs.
 * Open one for the app with [EffectLedger.open]. Safe to use from any thread; files are read and
 * written on [Dispatchers.IO].
 */
class DurableLedger internal constructor(
    private val native: NativeLedger,
    private val rule: EffectRule,
) : EffectLedger, AutoCloseable {
    private val lines = ConcurrentHashMap<String, Mutex>()

    /**
     * As [EffectLedger.once], also across deaths of the process: an effect that was begun in
     * another life and never finished is left to the rule.
     *
     * @throws EffectNotRun where it may have happened, and the rule does not allow to run it.
     * @throws StorageException where it cannot be recorded: it was not run.
     */
    override suspend fun once(key: String, effect: suspend () -> String): String =
        run(key, rule, effect)

    /** [once] for a call of a tool, with a rule for that tool. */
    suspend fun run(call: ToolCall, rule: EffectRule, effect: suspend () -> String): String =
        run(call.effectKey, rule, effect)

    /**
     * [once] with a rule of its own. What [effect] throws makes the effect unknown, since it may
     * have happened before; so does cancelling it.
     */
    suspend fun run(key: String, rule: EffectRule, effect: suspend () -> String): String =
        lines.getOrPut(key) { Mutex() }.withLock {
            when (val state = begin(key)) {
                is EffectState.Fresh -> perform(key, effect)
                is EffectState.Done -> state.result
                is EffectState.InFlight -> throw EffectNotRun(key, state)
                is EffectState.Unknown -> settle(key, state, rule, effect)
            }
        }

    private suspend fun settle(
        key: String,
        state: EffectState,
        rule: EffectRule,
        effect: suspend () -> String,
    ): String {
        val again = suspend {
            beginAgain(key)
            perform(key, effect)
        }
        return when (rule) {
            is EffectRule.Never -> throw EffectNotRun(key, state)
            is EffectRule.Retry -> again()
            is EffectRule.Ask -> when (val found = rule.find(key)) {
                is EffectRule.Finding.Happened -> found.result.also { done(key, it) }
                is EffectRule.Finding.DidNotHappen -> again()
                is EffectRule.Finding.StillUnknown -> throw EffectNotRun(key, state)
            }
        }
    }

    private suspend fun perform(key: String, effect: suspend () -> String): String {
        val result = try {
            effect()
        } catch (e: Throwable) {
            translating { native.giveUp(key) }
            throw e
        }
        // It has happened: that is recorded also where nobody waits any more.
        withContext(NonCancellable) { done(key, result) }
        return result
    }

    /**
     * Asks for an effect before its tool runs. Only [EffectState.Fresh] is a leave to run it; an
     * exception is none. [run] does all of this.
     */
    suspend fun begin(key: String): EffectState = onDisk { native.begin(key) }

    /** Records that an effect has happened, also one in an unknown state. */
    suspend fun done(key: String, result: String) = onDisk { native.done(key, result) }

    /** Leave to run an effect in an unknown state once more. */
    suspend fun beginAgain(key: String) = onDisk { native.beginAgain(key) }

    /** The app knows that the effect has not happened: it is fresh again. */
    suspend fun neverHappened(key: String) = onDisk { native.neverHappened(key) }

    /** The keys of all effects in an unknown state. */
    suspend fun unknown(): List<String> = onDisk { native.unknown() }

    /**
     * Forgets effects that are done and were begun more than [ageMs] milliseconds ago, and gives
     * their number. Choose an age beyond which no turn is restored.
     */
    suspend fun forgetDone(ageMs: Long): Int = onDisk { native.forgetDone(ageMs) }

    /** Lets the file go, so that it can be opened again. */
    override fun close() = native.close()

    private suspend fun <T> onDisk(call: () -> T): T =
        withContext(Dispatchers.IO) { translating { call() } }

    companion object {
        /**
         * Renames the ledger of a folder that is `DAMAGED`, so that the next one begins empty, and
         * gives the new name; nothing where there was none. Effects of before look fresh then: keep
         * old turns from running theirs.
         *
         * @throws StorageException `LOCKED` while somebody has it open.
         */
        fun setAside(folder: String): String? = translating { setLedgerAside(folder) }
    }
}

/**
 * [runTools] with a rule per call for effects of which nobody knows whether they happened.
 *
 * @throws EffectNotRun where a rule does not allow to run one. Results up to there are in the
 *   ledger, so that running again repeats none of them.
 */
suspend fun Answer.runTools(
    ledger: DurableLedger,
    rule: (ToolCall) -> EffectRule,
    run: suspend (ToolCall) -> String,
): ToolRun {
    val byKey = toolCalls.associateBy { it.effectKey }
    val ruled = object : EffectLedger {
        override suspend fun once(key: String, effect: suspend () -> String): String =
            ledger.run(key, rule(byKey.getValue(key)), effect)
    }
    return runTools(ruled, run)
}
