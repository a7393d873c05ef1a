package dev.rejoin.sample

import android.content.Context
import android.graphics.Canvas
import android.graphics.Paint
import android.graphics.Typeface
import android.text.Layout
import android.text.SpannableStringBuilder
import android.text.Spanned
import android.text.TextPaint
import android.text.style.BackgroundColorSpan
import android.text.style.CharacterStyle
import android.text.style.LeadingMarginSpan
import android.text.style.StrikethroughSpan
import android.text.style.StyleSpan
import android.text.style.TypefaceSpan

/** Struck through, in a colour that fades. */
class StruckSpan(private val color: Int, private val fade: Float) : StrikethroughSpan() {
    override fun updateDrawState(paint: TextPaint) {
        super.updateDrawState(paint)
        val alpha = (paint.color ushr 24) * fade
        paint.color = (color and 0xFFFFFF) or (alpha.toInt() shl 24)
    }
}

/** Old text that is held until the new text has caught up. */
class MutedSpan(private val color: Int) : CharacterStyle() {
    override fun updateDrawState(paint: TextPaint) {
        paint.color = color
    }
}

/** A bullet or number in the margin, on the side where the line begins. */
class MarkerSpan(private val marker: String, private val width: Int) : LeadingMarginSpan {
    override fun getLeadingMargin(first: Boolean) = width

    override fun drawLeadingMargin(
        canvas: Canvas, paint: Paint, x: Int, dir: Int, top: Int, baseline: Int, bottom: Int,
        text: CharSequence, start: Int, end: Int, first: Boolean, layout: Layout,
    ) {
        if (!first || (text as Spanned).getSpanStart(this) != start) return
        val drawn = paint.measureText(marker)
        val at = if (dir > 0) x.toFloat() else x - drawn
        canvas.drawText(marker, at, baseline.toFloat(), paint)
    }
}

/**
 * Makes the text of one [Block]: what is on its way out is struck through, and the simplest inline
 * Markdown is drawn. Marks that have no partner yet stay as they are.
 */
class BlockText(context: Context) {
    private val struck = context.getColor(R.color.struck)
    private val soft = context.getColor(R.color.ink_soft)
    private val paper = context.getColor(R.color.code_paper)
    private val margin = (24 * context.resources.displayMetrics.density).toInt()

    fun of(display: Display, block: Block, notes: List<StruckNote>): CharSequence {
        val text = SpannableStringBuilder(display.text, block.start, block.end)
        mark(text, display.struckFrom - block.start) { StruckSpan(struck, display.fade) }
        mark(text, display.mutedFrom - block.start) { MutedSpan(soft) }
        for (note in notes.asReversed()) {
            val at = (note.at - block.start).coerceIn(0, block.end - block.start)
            text.insert(at, note.text)
            text.setSpan(StruckSpan(struck, NOTE_FADE), at, at + note.text.length, EXCLUSIVE)
        }
        if (block.kind != BlockKind.CODE) {
            pairs(text, "**") { StyleSpan(Typeface.BOLD) }
            pairs(text, "`") { TypefaceSpan("monospace") }
        }
        if (block.kind == BlockKind.ITEM) {
            val wide = margin * (block.depth + 1)
            val bullet = MarkerSpan(block.marker, wide)
            text.setSpan(bullet, 0, text.length, Spanned.SPAN_INCLUSIVE_INCLUSIVE)
        }
        return text
    }

    private inline fun mark(text: SpannableStringBuilder, from: Int, span: () -> Any) {
        if (from < text.length) text.setSpan(span(), from.coerceAtLeast(0), text.length, EXCLUSIVE)
    }

    private fun pairs(text: SpannableStringBuilder, mark: String, span: () -> Any) {
        var open = text.indexOf(mark)
        while (open >= 0) {
            val close = text.indexOf(mark, open + mark.length)
            if (close < 0) return
            if (close > open + mark.length) {
                text.setSpan(span(), open + mark.length, close, EXCLUSIVE)
                if (mark == "`") {
                    text.setSpan(BackgroundColorSpan(paper), open + 1, close, EXCLUSIVE)
                }
                text.delete(close, close + mark.length)
                text.delete(open, open + mark.length)
                open = text.indexOf(mark, close - mark.length)
            } else {
                open = text.indexOf(mark, close + mark.length)
            }
        }
    }

    private companion object {
        const val EXCLUSIVE = Spanned.SPAN_EXCLUSIVE_EXCLUSIVE
        const val NOTE_FADE = 0.6f
    }
}
