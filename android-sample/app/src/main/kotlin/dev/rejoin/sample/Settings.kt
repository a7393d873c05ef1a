package dev.rejoin.sample

import dev.rejoin.Policy
import dev.rejoin.Presentation

/**
 * What the settings sheet sets. Holds the API key in memory only: it is in no log, no preference,
 * no saved state, and [toString] leaves it out.
 */
data class Settings(
    val server: String = DEFAULT_SERVER,
    val model: String = DEFAULT_MODEL,
    val apiKey: ApiKey = ApiKey.NONE,
    val policy: PolicyPreset = PolicyPreset.DEFAULT,
    val presentation: Presentation = Presentation.REPLACE,
    val network: NetworkProfile = NetworkProfile.EDGE,
    val story: Story? = null,
) {
    /** With a key the app talks to Gemini, and only there: the key never goes to another host. */
    val usesGemini: Boolean get() = apiKey != ApiKey.NONE

    /** Where the requests of [turnId] go. */
    fun baseUrl(turnId: String): String = if (usesGemini) GEMINI else server
        .replace("{story}", story?.name ?: Story.ALL.first().name)
        .replace("{network}", network.profile)
        .replace("{turn}", turnId)

    companion object {
        const val GEMINI = "https://generativelanguage.googleapis.com"

        /** The machine that runs the emulator, as the emulator sees it. */
        const val DEFAULT_SERVER = "http://10.0.2.2:8080/{story}/{network}/{turn}"
        const val DEFAULT_MODEL = "gemini-2.5-flash"
    }
}

/** A secret that cannot be printed by accident. */
@JvmInline
value class ApiKey(val secret: String) {
    override fun toString() = if (secret.isEmpty()) "none" else "set"

    companion object {
        val NONE = ApiKey("")
    }
}

/** A few policies by name; an app of your own sets the numbers that its drops call for. */
enum class PolicyPreset(val policy: Policy) {
    /** Rejoin's own numbers. */
    DEFAULT(Policy()),

    /** Goes on from a much shorter text. */
    EAGER(Policy(minContinueTokens = 60)),

    /** Never goes on from its own text: always one answer in one piece. */
    WHOLE(Policy(minContinueTokens = Long.MAX_VALUE)),
}

/** The Android emulator's networks that the flaky server can play. */
enum class NetworkProfile(val profile: String) {
    FULL("full"), LTE("lte"), UMTS("umts"), EDGE("edge"), GPRS("gprs"), GSM("gsm");

    companion object {
        fun named(name: String?) = entries.firstOrNull { it.profile == name }
    }
}
