package dev.rejoin

/** The front door: makes clients, real and fake, and holds the helpers that need no turn. */
object Rejoin {
    /**
     * A client. Keep one for the app: its turns share connections. Nothing is sent yet. Safe to
     * use from any thread; loads the native library on first use.
     *
     * @param apiKey sent as `x-goog-api-key`; appears in no event, no error and no log.
     * @param baseUrl where requests go; Google's endpoint by default. `/v1beta` is added unless
     *   the URL has a version in its path.
     * @param headers for every attempt. Their values count as secrets.
     * @param headerProvider asked before **each attempt**, with its number from 1: App Check and
     *   OAuth tokens expire between attempts. It may block, is never called on the main thread,
     *   and what it throws makes the attempt count as not sent: it is tried again by the policy.
     * @param extraRootPems root certificates (PEM) beside the built-in ones.
     * @param policy the numbers that steer all turns; what is left out keeps its default.
     * @param budget what all turns together may cost; looked at before each attempt. Once it is
     *   used up, a turn fails as `SPEND_USED_UP` with what it has, and a new one sends nothing.
     * @param allowPlainHttp lets requests go to another machine without TLS, such as a flaky server
     *   from an emulator (`http://10.0.2.2`). Whoever is on the way can read the key then. Loopback
     *   needs no permission.
     * @param journal where turns are kept so that they survive the process: opening it takes some
     *   milliseconds. One client of one process at a time; a file that cannot be read is put aside.
     * @throws RejoinException.InvalidArgument for settings that cannot be used.
     * @throws StorageException if the journal cannot be opened.
     */
    fun client(
        apiKey: String? = null,
        baseUrl: String? = null,
        headers: Map<String, String> = emptyMap(),
        headerProvider: ((attempt: Int) -> Map<String, String>)? = null,
        extraRootPems: List<String> = emptyList(),
        policy: Policy? = null,
        budget: Budget? = null,
        allowPlainHttp: Boolean = false,
        journal: JournalConfig? = null,
    ): RejoinClient = translating {
        val settings = ClientSettings(
            baseUrl, apiKey, headers, extraRootPems, policy, budget, allowPlainHttp, journal,
        )
        NativeRejoinClient(NativeClient(settings, headerProvider?.let(::ProviderAdapter)))
    }

    /**
     * A client for an app's own unit tests: plays [script] for each turn, with no network and no
     * native library. Pauses are coroutine delays, so that `runTest` skips them.
     *
     * ```
     * val client = Rejoin.fake {
     *     text("Rivers run to th")
     *     drop(Cause.RESET, keep = "")
     *     text("Rivers run to the sea.")
     * }
     * ```
     */
    fun fake(script: FakeScript.() -> Unit): RejoinClient = FakeClient(script)

    /**
     * What would be kept if the connection dropped after [text]. Pure; takes time in proportion
     * to the text.
     */
    fun committedText(text: String): CommittedText = translating { dev.rejoin.committedText(text) }

    /** How many tokens a Gemini model would have needed for [text], estimated. Pure. */
    fun estimateTokens(text: String): Long = translating { dev.rejoin.estimateTokens(text) }

    /**
     * The idempotency key of a tool call, 32 hex digits. Pure.
     *
     * @param args a JSON object; the order and spelling of its members do not matter.
     * @param ordinal the call's number among equal ones, from 0.
     * @param keyFields the arguments that count; empty: all of them.
     * @throws RejoinException.InvalidArgument if [args] is not JSON.
     */
    fun effectKey(
        turnId: String,
        name: String,
        args: String,
        ordinal: Int = 0,
        step: String? = null,
        keyFields: List<String> = emptyList(),
    ): String = translating { dev.rejoin.effectKey(turnId, name, args, ordinal, step, keyFields) }

    /** The gate: what would follow a broken attempt. Pure. */
    fun decide(evidence: Evidence, policy: Policy? = null): Decision =
        translating { dev.rejoin.decide(evidence, policy) }

    /** Every number of the policy with its default. */
    fun defaultPolicy(): Policy = translating { dev.rejoin.defaultPolicy() }
}

/** The app's lambda as the interface that the generated code calls. */
private class ProviderAdapter(private val headers: (Int) -> Map<String, String>) : HeaderProvider {
    override fun headers(attempt: Int): Map<String, String> = try {
        headers.invoke(attempt)
    } catch (e: Exception) {
        throw HeaderException.Unavailable(e.toString())
    }
}
