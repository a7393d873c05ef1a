package dev.rejoin.sample

/** What a block of an answer looks like. */
enum class BlockKind { PARAGRAPH, HEADING, ITEM, CODE }

/**
 * A piece of an answer that is drawn as one view. [start] and [end] are places in the answer, so
 * that a reset's `keep_utf16` can be found in it.
 *
 * @property marker what stands before a list item: its bullet or number.
 * @property depth how far a list item is indented.
 */
data class Block(
    val kind: BlockKind,
    val start: Int,
    val end: Int,
    val marker: String = "",
    val depth: Int = 0,
)

/**
 * Cuts an answer into blocks: enough Markdown that lists and code do not look broken while they
 * stream in. An answer that grows changes its last block only, so that the others keep theirs.
 */
object Blocks {
    private val item = Regex("""^( *)([-*+]|\d{1,9}[.)])[ \t]+""")
    private val heading = Regex("""^#{1,6}[ \t]+""")
    private const val FENCE = "```"

    fun of(text: String): List<Block> {
        val blocks = mutableListOf<Block>()
        var open: Block? = null
        var fenced = false
        fun close() {
            open?.let { blocks += it }
            open = null
        }
        var start = 0
        while (start < text.length) {
            val newline = text.indexOf('\n', start)
            val end = if (newline < 0) text.length else newline
            val line = text.substring(start, end)
            val next = if (newline < 0) text.length else newline + 1
            when {
                line.trimStart().startsWith(FENCE) -> {
                    close()
                    fenced = !fenced
                    // Open from the start, so that its frame stands before its first line comes.
                    if (fenced) open = Block(BlockKind.CODE, next, next)
                }
                fenced -> open = open?.copy(end = end)
                line.isBlank() -> close()
                else -> {
                    val begun = beginning(line, start, end)
                    if (begun != null) {
                        close()
                        open = begun
                        if (begun.kind == BlockKind.HEADING) close()
                    } else {
                        open = open?.copy(end = end) ?: Block(BlockKind.PARAGRAPH, start, end)
                    }
                }
            }
            start = next
        }
        close()
        return blocks
    }

    private fun beginning(line: String, start: Int, end: Int): Block? {
        item.find(line)?.let { match ->
            val (indent, marker) = match.destructured
            val shown = if (marker.first().isDigit()) marker else "•"
            val depth = indent.length / 2
            return Block(BlockKind.ITEM, start + match.value.length, end, shown, depth)
        }
        heading.find(line)?.let { return Block(BlockKind.HEADING, start + it.value.length, end) }
        return null
    }
}
