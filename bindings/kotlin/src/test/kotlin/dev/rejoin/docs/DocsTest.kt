package dev.rejoin.docs

import dev.rejoin.support.repositoryFile
import kotlin.test.Test
import kotlin.test.assertTrue

/** The snippets of docs/kotlin.md are compiled: each stands, word for word, in Snippets.kt. */
class DocsTest {
    @Test
    fun `every snippet of the docs is compiled`() {
        val compiled = normal(repositoryFile("bindings/kotlin/src/test/kotlin/dev/rejoin/docs/Snippets.kt").readText())
        val docs = repositoryFile("docs/kotlin.md").readText()
        val snippets = Regex("```kotlin\n(.*?)```", RegexOption.DOT_MATCHES_ALL).findAll(docs).toList()
        assertTrue(snippets.size >= 7, "${snippets.size} snippets")
        for (snippet in snippets) {
            val text = snippet.groupValues[1]
            assertTrue(normal(text) in compiled, "not compiled:\n$text")
        }
    }

    /** Indentation does not count. */
    private fun normal(text: String) = text.lines().map { it.trim() }.filter { it.isNotEmpty() }.joinToString("\n")
}
