package dev.rejoin.sample

import android.content.Intent
import android.os.Bundle
import dev.rejoin.Presentation

/**
 * What survives the death of the process: the texts on the screen, the turns' ids and the settings
 * without the key. A turn itself does not: its socket is gone.
 */
object SavedScreen {
    /** A saved state that is larger than about a megabyte makes the system kill the app. */
    private const val MOST_TEXT = 100_000

    fun save(conversation: Conversation, into: Bundle) {
        putSettings(conversation.settings, into)
        val exchanges = conversation.exchanges.map { exchange ->
            val text = exchange.leftover?.text ?: exchange.screen().transcript.text
            Bundle().apply {
                putString("question", exchange.question)
                putString("turn", exchange.turnId)
                putString("story", exchange.story?.name)
                putString("text", text.take(MOST_TEXT))
                putBoolean("cut", exchange.running || exchange.leftover?.cut == true)
            }
        }
        into.putParcelableArrayList("exchanges", ArrayList(exchanges))
    }

    fun restore(from: Bundle, conversation: Conversation) {
        conversation.settings = settings(conversation.settings, from)
        @Suppress("DEPRECATION") // The typed variant is API 33.
        val exchanges = from.getParcelableArrayList<Bundle>("exchanges").orEmpty()
        for (saved in exchanges) {
            val exchange = Exchange(
                saved.getString("question").orEmpty(),
                saved.getString("turn").orEmpty(),
                Story.named(saved.getString("story")),
            )
            exchange.leftover =
                Leftover(saved.getString("text").orEmpty(), saved.getBoolean("cut"))
            conversation.restore(exchange)
        }
    }

    /** The settings with what [intent] says: how a script or a test starts the app. */
    fun settings(settings: Settings, intent: Intent): Settings =
        intent.extras?.let { settings(settings, it) } ?: settings

    private fun putSettings(settings: Settings, into: Bundle) {
        into.putString("server", settings.server)
        into.putString("model", settings.model)
        into.putString("policy", settings.policy.name)
        into.putString("presentation", settings.presentation.name)
        into.putString("network", settings.network.profile)
        into.putString("story", settings.story?.name)
    }

    private fun settings(settings: Settings, from: Bundle) = settings.copy(
        server = from.getString("server") ?: settings.server,
        model = from.getString("model") ?: settings.model,
        policy = named(PolicyPreset.entries, from.getString("policy")) ?: settings.policy,
        presentation =
            named(Presentation.entries, from.getString("presentation")) ?: settings.presentation,
        network = NetworkProfile.named(from.getString("network")) ?: settings.network,
        story = Story.named(from.getString("story")) ?: settings.story,
    )

    private fun <E : Enum<E>> named(all: List<E>, name: String?): E? =
        all.firstOrNull { it.name.equals(name, ignoreCase = true) }
}
