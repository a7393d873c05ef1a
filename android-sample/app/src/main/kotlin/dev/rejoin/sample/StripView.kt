package dev.rejoin.sample

import android.view.View
import android.widget.TextView
import dev.rejoin.ErrorKind

/** The strip above the composer: what happens to the connection, in plain words. */
class StripView(private val root: View) {
    private val res = root.resources
    private val words = Words(res)
    private val headline = root.findViewById<TextView>(R.id.headline)
    private val countdown = root.findViewById<TextView>(R.id.countdown)
    private val detail = root.findViewById<TextView>(R.id.detail)
    private val dropNow = root.findViewById<View>(R.id.drop_now)
    private val askAgain = root.findViewById<View>(R.id.ask_again)
    private var look = 0

    fun hide() {
        root.visibility = View.GONE
    }

    /** Tells of [exchange], as [screen] has it at [now]; true while a countdown runs. */
    fun show(exchange: Exchange, screen: TurnScreen, now: Long): Boolean {
        val wait = screen.wait
        val failure = screen.transcript.failure
        val refusal = exchange.refusal
        val gone = exchange.leftover
        if (gone != null && !gone.cut) {
            hide()
            return false
        }
        root.visibility = View.VISIBLE
        when {
            gone != null -> say(
                res.getString(R.string.gone), R.drawable.strip_amber,
                res.getString(R.string.gone_detail),
            )
            refusal != null ->
                say(words.error(ErrorKind.INVALID_ARGUMENT), R.drawable.strip_red, refusal)
            failure != null -> say(
                words.error(failure.kind),
                if (failure.kind == ErrorKind.CANCELLED) R.drawable.strip_green
                else R.drawable.strip_red,
                if (screen.transcript.text.isEmpty()) null
                else res.getString(R.string.partial_stays),
            )
            screen.finished -> say(words.status(screen), R.drawable.strip_green, null)
            wait != null -> say(
                listOfNotNull(
                    screen.drop?.let { words.cause(it.cause, it.httpStatus) },
                    words.waiting(wait.why),
                ).joinToString(" "),
                R.drawable.strip_amber,
                screen.drop?.let(words::why),
            )
            screen.drop != null -> say(
                words.headline(screen.drop), R.drawable.strip_amber,
                listOfNotNull(words.why(screen.drop), screen.resets.lastOrNull()?.let(words::reset))
                    .joinToString("\n"),
            )
            else -> say(words.status(screen), R.drawable.strip_green, null)
        }
        val over = gone != null || refusal != null || screen.finished
        dropNow.visibility = if (!over) View.VISIBLE else View.GONE
        val lost = gone != null || refusal != null || failure != null
        askAgain.visibility = if (lost) View.VISIBLE else View.GONE
        return count(wait?.secondsLeft(now))
    }

    private fun say(what: String, background: Int, more: String?) {
        headline.set(what)
        detail.set(more.orEmpty())
        detail.visibility = if (more == null) View.GONE else View.VISIBLE
        if (look != background) root.setBackgroundResource(background)
        look = background
    }

    private fun count(seconds: Long?): Boolean {
        countdown.visibility = if (seconds == null) View.GONE else View.VISIBLE
        if (seconds == null) return false
        countdown.set(res.getString(R.string.wait_seconds, seconds))
        countdown.contentDescription = res.getString(R.string.wait_seconds_description, seconds)
        return seconds > 0
    }
}
