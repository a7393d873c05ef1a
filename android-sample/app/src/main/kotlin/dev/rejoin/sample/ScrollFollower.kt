package dev.rejoin.sample

import android.view.View
import android.widget.ScrollView

/**
 * Keeps the end of a growing answer in sight while the reader is there, and leaves the reader
 * alone elsewhere: then a button leads back.
 */
class ScrollFollower(private val scroll: ScrollView, private val latest: View) {
    private val near = (48 * scroll.resources.displayMetrics.density).toInt()
    private var following = true
    private var own = false

    init {
        latest.setOnClickListener { jump() }
        scroll.setOnScrollChangeListener { _, _, _, _, _ ->
            // A scroll that is not ours is the reader's.
            if (!own) following = atEnd()
            show()
        }
    }

    /** To the end, and stay there. */
    fun jump() {
        following = true
        afterDraw()
    }

    /** The content may have grown, or shrunk by a reset. */
    fun afterDraw() {
        scroll.post {
            if (following) {
                own = true
                scroll.scrollTo(0, end())
                own = false
            }
            show()
        }
    }

    private fun show() {
        latest.visibility = if (following || atEnd()) View.GONE else View.VISIBLE
    }

    private fun end(): Int {
        val content = scroll.getChildAt(0) ?: return 0
        val room = scroll.height - scroll.paddingBottom - scroll.paddingTop
        return (content.height - room).coerceAtLeast(0)
    }

    private fun atEnd() = scroll.scrollY >= end() - near
}
