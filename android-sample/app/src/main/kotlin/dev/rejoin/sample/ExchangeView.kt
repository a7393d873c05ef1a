package dev.rejoin.sample

import android.view.LayoutInflater
import android.view.View
import android.view.ViewGroup
import android.widget.LinearLayout
import android.widget.TextView
import dev.rejoin.Presentation
import kotlinx.coroutines.CoroutineScope

/** One question and its answer: everything but the strip, which is the screen's. */
class ExchangeView(
    parent: ViewGroup,
    val exchange: Exchange,
    private val desk: RefundDesk,
    presentation: Presentation,
    scope: CoroutineScope,
) {
    val root: View = LayoutInflater.from(parent.context).inflate(R.layout.exchange, parent, false)
    private val res = parent.resources
    private val words = Words(res)
    private val stage = Stage(presentation)
    private val badge = root.findViewById<TextView>(R.id.badge)
    private val thoughtsToggle = root.findViewById<TextView>(R.id.thoughts_toggle)
    private val thoughts = root.findViewById<TextView>(R.id.thoughts)
    private val answer = root.findViewById<AnswerView>(R.id.answer)
    private val parts = PartViews(root.findViewById(R.id.parts), scope)
    private val tools = ToolViews(root.findViewById(R.id.tools))
    private val timelineToggle = root.findViewById<TextView>(R.id.timeline_toggle)
    private val timeline = root.findViewById<LinearLayout>(R.id.timeline)
    private var rowsShown: List<AttemptRow> = emptyList()
    private var drawn: Pair<TurnScreen, List<PaidCall>>? = null
    private var moving = false

    init {
        root.findViewById<TextView>(R.id.asked).apply {
            text = exchange.question
            contentDescription = res.getString(R.string.you_asked, exchange.question)
        }
        fold(thoughtsToggle, thoughts, R.string.thoughts_open, R.string.thoughts_close)
        fold(timelineToggle, timeline, R.string.timeline_open, R.string.timeline_close)
    }

    /** Draws [screen] at [now]; true if the next frame has to be drawn too. */
    fun show(screen: TurnScreen, now: Long): Boolean {
        exchange.leftover?.let { left ->
            badge.visibility = View.GONE
            answer.show(Display(left.text), exchange.story?.json == true)
            return false
        }
        // Earlier answers stand still: they cost nothing while the last one streams.
        val (before, paidBefore) = drawn ?: (null to null)
        if (!moving && screen === before && exchange.paid === paidBefore) return false
        drawn = screen to exchange.paid
        val display = stage.next(screen, now)
        answer.show(display, exchange.story?.json == true)
        screen.attempts.lastOrNull()?.let { badge.set(words.badge(it.attempt, it.strategy)) }
        badge.visibility = if (screen.attempts.isEmpty()) View.GONE else View.VISIBLE
        showThoughts(screen.transcript.thoughts)
        parts.show(screen.transcript.parts)
        tools.show(screen.transcript.pendingTools, exchange.paid, desk.paid)
        showTimeline(screen)
        moving = display.moving
        return moving
    }

    private fun showThoughts(text: String) {
        thoughtsToggle.visibility = if (text.isEmpty()) View.GONE else View.VISIBLE
        if (text.isEmpty()) thoughts.visibility = View.GONE
        thoughts.set(text)
    }

    private fun showTimeline(screen: TurnScreen) {
        val rows = screen.attempts
        if (rows == rowsShown) return
        rowsShown = rows
        // While all goes well there is nothing to tell.
        val worth = screen.finished || rows.size > 1
        timelineToggle.visibility = if (worth) View.VISIBLE else View.GONE
        timelineToggle.set(words.attempts(rows.size))
        val inflater = LayoutInflater.from(root.context)
        rows.forEachIndexed { index, row ->
            val view = timeline.getChildAt(index)
                ?: inflater.inflate(R.layout.attempt, timeline, false).also(timeline::addView)
            view.findViewById<TextView>(R.id.attempt_title)
                .set(words.badge(row.attempt, row.strategy))
            view.findViewById<TextView>(R.id.attempt_detail)
                .set(words.ended(row) + "\n" + words.cost(row.report))
        }
    }

    /** Makes [toggle] open and close [body], and say so. */
    private fun fold(toggle: TextView, body: View, open: Int, close: Int) {
        fun tell() {
            val shown = body.visibility == View.VISIBLE
            val icon = if (shown) R.drawable.ic_collapse else R.drawable.ic_expand
            toggle.setCompoundDrawablesRelativeWithIntrinsicBounds(0, 0, icon, 0)
            toggle.contentDescription = res.getString(if (shown) close else open)
        }
        toggle.setOnClickListener {
            body.visibility = if (body.visibility == View.VISIBLE) View.GONE else View.VISIBLE
            tell()
        }
        tell()
    }
}

/** Sets text only where it differs: setting it again would cost a layout, and be announced. */
fun TextView.set(new: CharSequence) {
    if (!text.toString().contentEquals(new)) text = new
}
