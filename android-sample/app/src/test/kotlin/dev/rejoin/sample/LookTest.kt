package dev.rejoin.sample

import android.content.Intent
import android.graphics.Bitmap
import android.graphics.Color
import android.util.Base64
import android.view.View
import android.view.ViewGroup
import android.widget.ImageButton
import android.widget.ImageView
import android.widget.Spinner
import android.widget.TextView
import dev.rejoin.sample.support.LISBON
import dev.rejoin.sample.support.PHONE
import dev.rejoin.sample.support.Phone
import dev.rejoin.sample.support.show
import dev.rejoin.sample.support.told
import dev.rejoin.sample.support.untilDone
import java.io.ByteArrayOutputStream
import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.annotation.Config
import org.robolectric.shadows.ShadowDialog

/** What the screen looks like, to eyes, to a screen reader, and from right to left. */
@RunWith(RobolectricTestRunner::class)
@Config(qualifiers = PHONE)
class LookTest {
    private val lists = "Two ways to count bricks:\n\n1. **Measure** the wall.\n2. Ask `bricks()`:\n\n```python\n" +
        "def bricks(metres):\n    return metres * 52\n```\n"

    @Test
    fun `thoughts, lists, code, an image and what ran are shown`() = told("workshop") { server, phone ->
        server.request(1, phone).apply {
            thought("A wall of ten metres, one metre high.")
            phone.until("thoughts") { phone.shown(R.id.thoughts_toggle) }
            assertEquals("Thinking…", phone.text(R.id.headline))
            // Folded away until they are asked for, and never part of the answer.
            assertTrue(!phone.shown(R.id.thoughts))
            phone.click(R.id.thoughts_toggle)
            assertEquals("A wall of ten metres, one metre high.", phone.text(R.id.thoughts))
            show(phone, lists, 60)
            part(JSONObject("""{"executableCode":{"language":"PYTHON","code":"print(10 * 52)"}}"""), null)
            part(JSONObject("""{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"520\n"}}"""), null)
            part(JSONObject().put("inlineData", JSONObject().put("mimeType", "image/png").put("data", png())), null)
            phone.until("the image") { image(phone)?.drawable != null }
            stop(80)
        }
        phone.untilDone()
        assertEquals("An image from the model", image(phone)?.contentDescription)
        val texts = phone.texts()
        assertTrue("$texts", texts.containsAll(listOf("Code that was run (python)", "print(10 * 52)", "520")))
        // No mark of the Markdown is left, and the lines of code stand as they were.
        assertEquals(
            listOf(
                "Two ways to count bricks:", "Measure the wall.", "Ask bricks():",
                "def bricks(metres):\n    return metres * 52",
            ),
            phone.blocks().map { it.text.toString() },
        )
        phone.shot("workshop")
    }

    @Test
    @Config(qualifiers = "w411dp-h860dp-night-xhdpi")
    fun `the dark theme is dark`() = told("tunnel") { server, phone ->
        server.request(1, phone).apply {
            show(phone, LISBON + "In the afternoon, take the ferry. Find a low wall by the wa", 300)
            reset()
        }
        phone.until("struck text") { phone.spanned<StruckSpan>().isNotEmpty() }
        server.request(2, phone)
        phone.advance(100)
        phone.shot("dark-struck")
        val paper = phone.activity.getColor(R.color.paper)
        val ink = phone.blocks().first().currentTextColor
        assertTrue(Color.luminance(paper) < 0.05)
        assertTrue("contrast ${contrast(ink, paper)}", contrast(ink, paper) > 7)
        for (soft in listOf(R.color.ink_soft, R.color.green, R.color.struck)) {
            assertTrue(contrast(phone.activity.getColor(soft), paper) > 4.5)
        }
        assertTrue(
            contrast(phone.activity.getColor(R.color.ink_soft), phone.activity.getColor(R.color.amber_paper)) > 4.5,
        )
    }

    @Test
    fun `one live region speaks, and it is not the answer`() = told("tunnel") { server, phone ->
        server.request(1, phone).show(phone, LISBON, 40)
        val live = Phone.all(phone.activity.window.decorView)
            .filter { it.accessibilityLiveRegion != View.ACCESSIBILITY_LIVE_REGION_NONE }.map { it.id }.toList()
        assertEquals(listOf(R.id.headline), live)
        assertEquals("You asked: Plan me a slow Saturday in Lisbon.", phone.view(R.id.asked)?.contentDescription)
    }

    @Test
    fun `whatever can be touched has a name and is large enough`() {
        Phone.opened(Intent()).use { phone ->
            phone.advance(100)
            val least = (48 * phone.activity.resources.displayMetrics.density).toInt()
            val touched = Phone.all(phone.activity.findViewById(android.R.id.content))
                .filter { it.isShown && (it.isClickable && it !is ViewGroup || it.hasOnClickListeners()) }
                .toList()
            assertTrue("${touched.size}", touched.size >= 3 + Story.ALL.size - 1)
            for (view in touched) {
                assertTrue("$view", view.height >= least && view.width >= least)
                if (view is ImageButton) assertTrue(!view.contentDescription.isNullOrEmpty())
            }
            phone.shot("welcome")
        }
    }

    @Test
    @Config(qualifiers = "ar-ldrtl-$PHONE")
    fun `from right to left the sides change, and the text runs its own way`() = told { server, phone ->
        val arabic = "ابدأ مبكرا قبل الحر."
        server.request(1, phone).apply { show(phone, "$arabic\n\n- قهوة\n- شاي\n\n", 9); stop(9) }
        phone.untilDone()
        phone.advance(100)
        val asked = phone.view(R.id.asked)!!
        val send = phone.view(R.id.send)!!
        val middle = phone.activity.window.decorView.width / 2
        val at = IntArray(2)
        asked.getLocationOnScreen(at)
        assertTrue("the question is on the left", at[0] < middle / 2)
        send.getLocationOnScreen(at)
        assertTrue("the button is on the left", at[0] < middle / 2)
        val first = phone.blocks().first()
        assertEquals(-1, first.layout.getParagraphDirection(0))
        assertTrue(first.layout.getLineRight(0) > middle)
        phone.shot("right-to-left")
    }

    @Test
    fun `with very large text nothing is cut off`() {
        RuntimeEnvironment.setFontScale(2f)
        told("tunnel") { server, phone ->
            server.request(1, phone).apply { show(phone, "Start early, before the heat.", 300); reset() }
            server.request(2, phone)
            phone.until("the strip") { phone.text(R.id.headline).startsWith("The connection broke") }
            phone.advance(200)
            val seen = Phone.all(phone.activity.window.decorView).filterIsInstance<TextView>()
                .filter { it.isShown && it.text.isNotEmpty() && it.id != R.id.where }.toList()
            for (view in seen) {
                val room = view.height - view.compoundPaddingTop - view.compoundPaddingBottom
                assertTrue("«${view.text}» is cut", view.layout == null || view.layout.height <= room)
            }
            phone.shot("large-text")
        }
    }

    @Test
    fun `text that goes can stay, struck through, or be held`() = told("tunnel") { server, phone ->
        phone.activity.findViewById<View>(R.id.open_settings).performClick()
        val sheet = ShadowDialog.getLatestDialog()
        sheet.findViewById<Spinner>(R.id.presentation).setSelection(2)
        sheet.findViewById<View>(R.id.settings_done).performClick()
        server.request(1, phone).apply {
            show(phone, LISBON + "In the afternoon, take the ferry. Find a low wall by the wa", 300)
            reset()
        }
        val second = server.request(2, phone)
        second.text("In the afternoon, take the ferry. Find a low wall by the water.", 9)
        second.stop(9)
        phone.until("the end") { phone.text(R.id.headline).startsWith("Done") }
        assertEquals(" Find a low wall by the wa", phone.spanned<StruckSpan>())
        val whole = "In the afternoon, take the ferry. Find a low wall by the water."
        assertTrue(phone.answer, phone.answer.endsWith(whole.replace("ferry.", "ferry. Find a low wall by the wa")))
        phone.shot("kept-struck")
        // Another way to show it: the turn is read again from its first event, not asked again.
        phone.activity.findViewById<View>(R.id.open_settings).performClick()
        val again = ShadowDialog.getLatestDialog()
        again.findViewById<Spinner>(R.id.presentation).setSelection(0)
        again.findViewById<View>(R.id.settings_done).performClick()
        phone.until("only the answer") { phone.answer.endsWith("river.\n$whole") }
        assertEquals(2, server.requests.size)
    }

    @Test
    fun `the settings can be read`() {
        Phone.opened(Intent()).use { phone ->
            phone.click(R.id.open_settings)
            phone.advance(500)
            val sheet = ShadowDialog.getLatestDialog()
            val view = sheet.window!!.decorView
            phone.shot("settings", view)
            sheet.findViewById<TextView>(R.id.key).text = "AIza-secret"
            sheet.dismiss()
            phone.until("the header") { phone.text(R.id.where) == "gemini-2.5-flash · Gemini" }
        }
    }

    private fun image(phone: Phone): ImageView? = phone.view(R.id.part_image) as? ImageView

    private fun png(): String {
        val bitmap = Bitmap.createBitmap(480, 200, Bitmap.Config.ARGB_8888)
        for (y in 0 until 200) for (x in 0 until 480) {
            val joint = y % 40 < 4 || (x + (y / 40 % 2) * 40) % 80 < 4
            bitmap.setPixel(x, y, if (joint) 0xFFD8D2C6.toInt() else 0xFFB4563C.toInt())
        }
        val bytes = ByteArrayOutputStream()
        bitmap.compress(Bitmap.CompressFormat.PNG, 100, bytes)
        return Base64.encodeToString(bytes.toByteArray(), Base64.NO_WRAP)
    }

    private fun contrast(a: Int, b: Int): Double {
        val (dark, light) = listOf(Color.luminance(a), Color.luminance(b)).sorted()
        return (light + 0.05) / (dark + 0.05)
    }
}
