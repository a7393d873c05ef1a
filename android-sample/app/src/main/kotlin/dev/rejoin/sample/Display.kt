package dev.rejoin.sample

import dev.rejoin.Presentation

/**
 * What the answer looks like at one moment: the text, and which of it is on its way out.
 *
 * @property struckFrom from here on the text is struck through; its length if nothing is.
 * @property fade how much of the struck text's colour is left, 1 to 0.
 * @property mutedFrom from here on the text is old and held until the new one has caught up.
 * @property notes struck text that stays, at its places.
 * @property moving true while the picture changes by itself: draw again in the next frame.
 */
data class Display(
    val text: String,
    val struckFrom: Int = text.length,
    val fade: Float = 1f,
    val mutedFrom: Int = text.length,
    val notes: List<StruckNote> = emptyList(),
    val moving: Boolean = false,
)

/** Text that a reset took back and that stays visible, struck through, at [at]. */
data class StruckNote(val at: Int, val text: String)

/**
 * Decides from one screen to the next what is drawn of the answer. A reset keeps exactly what the
 * event says; what goes is struck through where it stands, fades, and only then makes room.
 *
 * Knows no view: time comes in, a [Display] comes out.
 */
class Stage(private val presentation: Presentation) {
    private var shown = ""
    private var resetsSeen = 0
    private var struckSince = 0L
    private var struckFrom = -1

    /** The picture for [screen] at [now], in milliseconds. */
    fun next(screen: TurnScreen, now: Long): Display = when (presentation) {
        Presentation.REPLACE -> replaced(screen, now)
        Presentation.HOLD -> held(screen)
        Presentation.ANNOTATE -> annotated(screen)
    }

    private fun replaced(screen: TurnScreen, now: Long): Display {
        val unseen = screen.resets.drop(resetsSeen)
        resetsSeen = screen.resets.size
        // Several resets may come between two frames; what none of them took stays.
        val keep = unseen.minOfOrNull { it.atUtf16 } ?: shown.length
        if (keep < shown.length) {
            // A second reset while text is still fading takes more of it, and begins anew.
            struckFrom = if (struckFrom < 0) keep else minOf(struckFrom, keep)
            struckSince = now
        }
        val age = now - struckSince
        if (struckFrom in 0 until shown.length && age < STRUCK_MS + FADE_MS) {
            val fade = 1f - (age - STRUCK_MS).coerceAtLeast(0) / FADE_MS.toFloat()
            return Display(shown, struckFrom = struckFrom, fade = fade, moving = true)
        }
        struckFrom = -1
        shown = screen.transcript.text
        return Display(shown)
    }

    private fun held(screen: TurnScreen): Display {
        val shown = screen.transcript
        val old = if (shown.holding) shown.lastReset?.atUtf16 else null
        return Display(shown.text, mutedFrom = old ?: shown.text.length)
    }

    private fun annotated(screen: TurnScreen): Display {
        val shown = screen.transcript
        val notes = shown.notes.filter { it.dropped.isNotBlank() }
        return Display(shown.text, notes = notes.map { StruckNote(it.atUtf16, it.dropped) })
    }

    companion object {
        /** Long enough to be seen, short enough not to be waited for. */
        const val STRUCK_MS = 350L
        const val FADE_MS = 450L
    }
}
