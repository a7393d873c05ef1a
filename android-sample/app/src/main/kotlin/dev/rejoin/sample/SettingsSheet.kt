package dev.rejoin.sample

import android.app.Activity
import android.app.Dialog
import android.view.Gravity
import android.view.View
import android.view.ViewGroup
import android.widget.EditText
import android.widget.Spinner
import dev.rejoin.Presentation

/** The settings, as a sheet from the bottom. Tells of what was set when it closes, in any way. */
class SettingsSheet(
    activity: Activity,
    private val before: Settings,
    private val set: (Settings) -> Unit,
) {
    /** The window with the fields. */
    val dialog = Dialog(activity, R.style.Rejoin_Sheet)

    init {
        dialog.setContentView(R.layout.settings)
        dialog.window?.apply {
            setGravity(Gravity.BOTTOM)
            val wide = activity.resources.displayMetrics.widthPixels
            val most = activity.resources.getDimensionPixelSize(R.dimen.sheet_width)
            setLayout(minOf(wide, most), ViewGroup.LayoutParams.WRAP_CONTENT)
        }
        field(R.id.server).setText(before.server)
        field(R.id.model).setText(before.model)
        field(R.id.key).setText(before.apiKey.secret)
        choice(R.id.policy).setSelection(before.policy.ordinal)
        choice(R.id.presentation).setSelection(before.presentation.ordinal)
        choice(R.id.network).setSelection(before.network.ordinal)
        dialog.findViewById<View>(R.id.settings_done).setOnClickListener { dialog.dismiss() }
        dialog.setOnDismissListener { set(chosen()) }
    }

    fun show() = dialog.show()

    private fun chosen() = before.copy(
        server = field(R.id.server).text.toString().trim().ifEmpty { Settings.DEFAULT_SERVER },
        model = field(R.id.model).text.toString().trim().ifEmpty { Settings.DEFAULT_MODEL },
        apiKey = ApiKey(field(R.id.key).text.toString().trim()),
        policy = PolicyPreset.entries[choice(R.id.policy).selectedItemPosition],
        presentation = Presentation.entries[choice(R.id.presentation).selectedItemPosition],
        network = NetworkProfile.entries[choice(R.id.network).selectedItemPosition],
    )

    private fun field(id: Int): EditText = dialog.findViewById(id)

    private fun choice(id: Int): Spinner = dialog.findViewById(id)
}
