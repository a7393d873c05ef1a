package dev.rejoin.sample

import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.util.Base64
import android.view.LayoutInflater
import android.view.View
import android.view.ViewGroup
import android.widget.ImageView
import android.widget.TextView
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.json.JSONException
import org.json.JSONObject

/** A `part` event, read: what the screen can show of it. */
sealed interface Part {
    data class Image(val mimeType: String, val base64: String) : Part
    data class Code(val language: String, val code: String) : Part
    data class Output(val text: String) : Part
    data class Other(val name: String) : Part

    companion object {
        /** Reads the JSON of a part; what is not known keeps its name. */
        fun of(json: String): Part = try {
            val part = JSONObject(json)
            val image = part.optJSONObject("inlineData")
            val code = part.optJSONObject("executableCode")
            val output = part.optJSONObject("codeExecutionResult")
            when {
                image != null && image.optString("mimeType").startsWith("image/") ->
                    Image(image.optString("mimeType"), image.optString("data"))
                code != null -> Code(code.optString("language"), code.optString("code").trimEnd())
                output != null -> Output(output.optString("output").trimEnd())
                else -> Other(part.keys().asSequence().firstOrNull().orEmpty())
            }
        } catch (_: JSONException) {
            Other("")
        }
    }
}

/** The parts of one answer, one view each, in order. */
class PartViews(private val into: ViewGroup, private val scope: CoroutineScope) {
    private val shown = mutableListOf<String>()
    private val res = into.resources

    /** Draws [parts]; those that stayed are not touched. */
    fun show(parts: List<String>) {
        val same = parts.indices.takeWhile { shown.getOrNull(it) == parts[it] }.size
        while (shown.size > same) {
            shown.removeAt(shown.lastIndex)
            into.removeViewAt(shown.size)
        }
        for (json in parts.drop(same)) {
            shown += json
            into.addView(view(Part.of(json)))
        }
    }

    private fun view(part: Part): View {
        val view = LayoutInflater.from(into.context).inflate(R.layout.part, into, false)
        val label = view.findViewById<TextView>(R.id.part_label)
        val code = view.findViewById<TextView>(R.id.part_code)
        when (part) {
            is Part.Image -> {
                label.visibility = View.GONE
                show(part, view.findViewById(R.id.part_image))
            }
            is Part.Code -> {
                label.text = res.getString(R.string.code_in, part.language.lowercase())
                code.text = part.code
                code.visibility = View.VISIBLE
            }
            is Part.Output -> {
                label.text = res.getString(R.string.code_out)
                code.text = part.text
                code.visibility = View.VISIBLE
            }
            is Part.Other -> label.text = res.getString(R.string.part_other, part.name)
        }
        return view
    }

    private fun show(part: Part.Image, into: ImageView) {
        into.visibility = View.VISIBLE
        scope.launch {
            // Images are megabytes: decoded away from the screen's thread.
            val bitmap = withContext(Dispatchers.Default) { decode(part) }
            into.setImageBitmap(bitmap)
            val words = if (bitmap == null) R.string.image_broken else R.string.image
            into.contentDescription = res.getString(words)
        }
    }

    private fun decode(part: Part.Image): Bitmap? = try {
        val bytes = Base64.decode(part.base64, Base64.DEFAULT)
        val size = BitmapFactory.Options().apply { inJustDecodeBounds = true }
        BitmapFactory.decodeByteArray(bytes, 0, bytes.size, size)
        val widest = res.displayMetrics.widthPixels
        val sampled = BitmapFactory.Options()
        sampled.inSampleSize =
            generateSequence(1) { it * 2 }.first { size.outWidth / (it * 2) < widest }
        BitmapFactory.decodeByteArray(bytes, 0, bytes.size, sampled)
    } catch (_: IllegalArgumentException) {
        null
    }
}
