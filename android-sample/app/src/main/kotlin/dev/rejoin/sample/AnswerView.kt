package dev.rejoin.sample

import android.content.Context
import android.util.AttributeSet
import android.view.View
import android.widget.HorizontalScrollView
import android.widget.LinearLayout
import android.widget.TextView

/**
 * Draws an answer, one view per block. Views whose block has not changed are not touched, so that
 * the part of an answer that a reset keeps cannot flicker.
 */
class AnswerView @JvmOverloads constructor(context: Context, attrs: AttributeSet? = null) :
    LinearLayout(context, attrs) {

    private class Row(val kind: BlockKind, val view: View, val text: TextView, var drawn: Drawn?)

    /** All that decides what a block looks like. */
    private data class Drawn(
        val content: String,
        val block: Block,
        val struckFrom: Int,
        val fade: Float,
        val mutedFrom: Int,
        val notes: List<StruckNote>,
    )

    private val rows = mutableListOf<Row>()
    private val texts = BlockText(context)

    init {
        orientation = VERTICAL
    }

    /** How many times the text of a block was set: what one frame costs. */
    var blocksDrawn = 0L
        private set

    /** What is on the screen, block by block. */
    val shownText: String get() = rows.joinToString("\n") { it.text.text.toString() }

    /** Draws [display]; [code] for an answer that is one piece of JSON. */
    fun show(display: Display, code: Boolean) {
        val blocks = when {
            display.text.isEmpty() && display.notes.isEmpty() -> emptyList()
            code -> listOf(Block(BlockKind.CODE, 0, display.text.length))
            else -> Blocks.of(display.text).ifEmpty { listOf(Block(BlockKind.PARAGRAPH, 0, 0)) }
        }
        // A note belongs to the last block that begins before it; it may stand between two.
        val notes = display.notes.groupBy { note ->
            blocks.indexOfLast { it.start <= note.at }.coerceAtLeast(0)
        }
        blocks.forEachIndexed { index, block ->
            draw(index, block, display, notes[index].orEmpty())
        }
        while (rows.size > blocks.size) removeView(rows.removeAt(rows.lastIndex).view)
    }

    private fun draw(index: Int, block: Block, display: Display, notes: List<StruckNote>) {
        val drawn = Drawn(
            content = display.text.substring(block.start, block.end),
            block = block,
            struckFrom = (display.struckFrom - block.start).coerceIn(0, block.end - block.start),
            fade = if (display.struckFrom < block.end) display.fade else 1f,
            mutedFrom = (display.mutedFrom - block.start).coerceIn(0, block.end - block.start),
            notes = notes,
        )
        val row = row(index, block.kind)
        if (row.drawn == drawn) return
        row.drawn = drawn
        row.text.text = texts.of(display, block, notes)
        blocksDrawn += 1
    }

    private fun row(index: Int, kind: BlockKind): Row {
        rows.getOrNull(index)?.let { row ->
            if (row.kind == kind) return row
            while (rows.size > index) removeView(rows.removeAt(rows.lastIndex).view)
        }
        return newRow(kind).also { row ->
            rows += row
            addView(row.view)
        }
    }

    private fun newRow(kind: BlockKind): Row {
        val style = when (kind) {
            BlockKind.CODE -> R.style.Code
            BlockKind.HEADING -> R.style.Title
            else -> R.style.Reading
        }
        val text = TextView(context, null, 0, style)
        text.setTextIsSelectable(true)
        val between = resources.getDimensionPixelSize(
            if (kind == BlockKind.ITEM) R.dimen.between_items else R.dimen.between_blocks,
        )
        // Long lines of code scroll: broken ones could not be read.
        val view = if (kind == BlockKind.CODE) HorizontalScrollView(context).also { frame ->
            frame.setBackgroundResource(R.drawable.code)
            frame.isFillViewport = true
            val inner = resources.getDimensionPixelSize(R.dimen.code_padding)
            text.setPadding(inner, inner, inner, inner)
            frame.addView(text)
        } else text
        view.layoutParams = LayoutParams(LayoutParams.MATCH_PARENT, LayoutParams.WRAP_CONTENT)
            .apply { topMargin = between }
        return Row(kind, view, text, null)
    }
}
