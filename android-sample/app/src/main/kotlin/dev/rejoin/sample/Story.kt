package dev.rejoin.sample

import dev.rejoin.Policy
import dev.rejoin.Tool

/**
 * What the user asks where the flaky server answers: a question that fits the script of the same
 * name, with the tools and the output format that it is about.
 *
 * @property json the answer is one JSON object.
 */
data class Story(
    val name: String,
    val title: String,
    val question: String,
    val tools: List<Tool> = emptyList(),
    val json: Boolean = false,
    val policy: Policy = Policy(),
) {
    companion object {
        private val refund = Tool(
            name = "issue_refund",
            description = "Pays an order back.",
            parameters = """{"type": "object", "properties": {
                "order": {"type": "string"}, "cents": {"type": "integer"}}}""",
            keyFields = listOf("order", "cents"),
        )

        /** The stories that are offered on an empty screen, the best to begin with first. */
        val ALL = listOf(
            Story("tunnel", "Through a tunnel", "Plan me a slow Saturday in Lisbon."),
            Story(
                "refund-twice",
                "A refund, once",
                "The blue teapot of order T-318 arrived in two pieces. Can I have my money back?",
                tools = listOf(refund),
            ),
            Story("second-drop", "Two drops", "Why do cats purr?"),
            Story("busy", "A busy server", "Give me a name for a sailing boat."),
            Story(
                "workshop", "Thoughts, code, a picture", "How many bricks does a garden wall take?",
            ),
            Story("schema", "Strict JSON", "A recipe for lemon cake, as JSON.", json = true),
            Story(
                "silent-restart", "Begun anew", "How do I bake good bread?",
                policy = Policy(minContinueTokens = 60),
            ),
        )

        /** Breaks only when somebody breaks it: for the Drop button, and for scripts. */
        private val byHand =
            Story("slow-tunnel", "Through a tunnel", "Plan me a slow Saturday in Lisbon.")

        fun named(name: String?) = (ALL + byHand).firstOrNull { it.name == name }
    }
}
