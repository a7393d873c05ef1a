package dev.rejoin.sample

import android.view.LayoutInflater
import android.view.View
import android.view.ViewGroup
import android.widget.TextView

/** The calls of one answer: held while it comes in, run once when it is whole. */
class ToolViews(private val into: ViewGroup) {
    private val res = into.resources

    /** [held]: names of calls seen; [paid]: what was run; [count]: what the desk really did. */
    fun show(held: List<String>, paid: List<PaidCall>, count: Int) {
        val size = held.size + paid.size
        while (into.childCount > size) into.removeViewAt(into.childCount - 1)
        while (into.childCount < size) {
            into.addView(LayoutInflater.from(into.context).inflate(R.layout.tool, into, false))
        }
        paid.forEachIndexed { index, call -> showPaid(into.getChildAt(index), call, count) }
        held.forEachIndexed { index, name -> showHeld(into.getChildAt(paid.size + index), name) }
    }

    private fun showHeld(view: View, name: String) {
        view.name().set(res.getString(R.string.tool_held, name))
        view.findViewById<View>(R.id.tool_key).visibility = View.GONE
        view.findViewById<View>(R.id.tool_count).visibility = View.GONE
    }

    private fun showPaid(view: View, paid: PaidCall, count: Int) {
        view.name().set(res.getString(R.string.tool_done, paid.call.name))
        view.findViewById<TextView>(R.id.tool_key).apply {
            set(res.getString(R.string.tool_key, paid.call.effectKey.take(KEY_DIGITS) + "…"))
            visibility = View.VISIBLE
        }
        view.findViewById<TextView>(R.id.tool_count).apply {
            set(
                if (count == 0) res.getString(R.string.refunds_none)
                else res.getQuantityString(R.plurals.refunds_paid, count, count),
            )
            visibility = View.VISIBLE
        }
    }

    private fun View.name(): TextView = findViewById(R.id.tool_name)

    private companion object {
        /** Enough to compare by eye. */
        const val KEY_DIGITS = 8
    }
}
