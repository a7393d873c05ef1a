package dev.rejoin.sample.support

import android.content.Context
import android.content.Intent
import android.graphics.Bitmap
import android.graphics.Canvas
import android.net.ConnectivityManager
import android.os.Bundle
import android.os.Looper
import android.text.Spanned
import android.view.View
import android.view.ViewGroup
import android.widget.TextView
import dev.rejoin.sample.AnswerView
import dev.rejoin.sample.MainActivity
import dev.rejoin.sample.R
import dev.rejoin.sample.Story
import dev.rejoin.sample.StruckSpan
import java.io.File
import java.time.Duration
import java.util.concurrent.locks.LockSupport
import org.robolectric.Robolectric
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import org.robolectric.shadows.ShadowChoreographer

/** A phone with the app on it, as somebody who holds it sees it. */
class Phone private constructor(private val controller: ActivityController<MainActivity>) :
    AutoCloseable {
    /** What one frame showed. */
    data class Frame(
        val answer: String,
        val struck: String,
        val headline: String,
        val detail: String,
        val badge: String,
        val countdown: String,
    )

    private var last = System.nanoTime()
    val activity: MainActivity get() = controller.get()

    /** Every frame since the app was opened or turned, in order: nothing flashes by unseen. */
    val frames = mutableListOf<Frame>()

    /** For a test that counts: what looks at frames costs time as well. */
    fun stopWatching() {
        activity.frames.drawn = {}
    }

    private fun watch() {
        activity.frames.drawn = {
            val frame = Frame(
                answer, spanned<StruckSpan>(), text(R.id.headline), text(R.id.detail),
                text(R.id.badge), text(R.id.countdown),
            )
            if (frame != frames.lastOrNull()) frames += frame
        }
    }

    /** Lets the phone's clock follow the real one until [condition] holds. */
    fun until(what: String, seconds: Long = 60, condition: () -> Boolean) {
        val end = System.nanoTime() + seconds * 1_000_000_000
        tick()
        while (!condition()) {
            if (System.nanoTime() > end) {
                throw AssertionError("never: $what. On the screen: ${texts()}")
            }
            LockSupport.parkNanos(3_000_000)
            tick()
        }
    }

    /** The phone's clock follows the real one, a frame at a time at most: a slow machine skips none. */
    fun tick() {
        val now = System.nanoTime()
        val passed = ((now - last) / 1_000_000).coerceAtMost(FRAME_MS)
        last = now
        shadowOf(Looper.getMainLooper()).idleFor(Duration.ofMillis(passed))
    }

    /** So much time passes on the phone, frame by frame, whatever the real clock says. */
    fun advance(ms: Long) = repeat((ms / FRAME_MS).toInt()) {
        shadowOf(Looper.getMainLooper()).idleFor(Duration.ofMillis(FRAME_MS))
    }

    /** What the current answer shows, its blocks one below the other. */
    val answer: String get() = answerView?.shownText.orEmpty()

    val answerView: AnswerView?
        get() = all(activity.findViewById(R.id.exchanges)).filterIsInstance<AnswerView>().lastOrNull()

    /** The views in which the answer's blocks are. */
    fun blocks(): List<TextView> = answerView?.let { all(it).filterIsInstance<TextView>().toList() }.orEmpty()

    /** The text of the answer under spans of this kind. */
    inline fun <reified S : Any> spanned(): String = blocks().joinToString("") { block ->
        val text = block.text as? Spanned ?: return@joinToString ""
        text.getSpans(0, text.length, S::class.java).joinToString("") {
            text.substring(text.getSpanStart(it), text.getSpanEnd(it))
        }
    }

    /** The text of a view of the last exchange or of the screen; empty where it cannot be seen. */
    fun text(id: Int): String = view(id)?.takeIf { it.isShown }?.let { (it as TextView).text.toString() }.orEmpty()

    fun view(id: Int): View? = all(root).lastOrNull { it.id == id }

    fun shown(id: Int): Boolean = view(id)?.isShown == true

    fun click(id: Int) {
        val view = checkNotNull(view(id)) { "there is no such view" }
        check(view.isShown && view.isEnabled) { "it cannot be clicked" }
        view.performClick()
        tick()
    }

    /** Asks under the app's settings, as a tap on a story or a typed question does. */
    fun ask(question: String) {
        activity.ask(question)
        tick()
    }

    /** What a screen reader says by itself: the live region's texts, each once. */
    fun spoken(): List<String> = frames.map { it.headline }.filter { it.isNotEmpty() }
        .fold(emptyList()) { said, line -> if (said.lastOrNull() == line) said else said + line }

    /** What the device says of its network. */
    fun network(tell: (ConnectivityManager.NetworkCallback) -> Unit) {
        val manager = activity.getSystemService(Context.CONNECTIVITY_SERVICE) as ConnectivityManager
        shadowOf(manager).networkCallbacks.forEach(tell)
        tick()
    }

    /** Every text that can be seen, for messages and for searching. */
    fun texts(): List<String> = all(root).filterIsInstance<TextView>()
        .filter { it.isShown && it.text.isNotEmpty() }.map { it.text.toString() }.toList()

    /** Turns the phone: the Activity goes, another one comes, the process stays. */
    fun turn(qualifiers: String = "+land") {
        RuntimeEnvironment.setQualifiers(qualifiers)
        controller.configurationChange(RuntimeEnvironment.getApplication().resources.configuration)
        // Robolectric shows the new window only when told to.
        controller.visible()
        watch()
        tick()
    }

    /**
     * The user leaves, [away] happens, the system kills the process in the background, and the
     * user comes back to what was saved on leaving.
     */
    fun killAndReturn(away: () -> Unit = {}): Phone {
        val saved = Bundle()
        val intent = activity.intent
        controller.pause().stop().saveInstanceState(saved)
        away()
        controller.destroy()
        return opened(intent, saved)
    }

    private val root: ViewGroup get() = activity.window.decorView as ViewGroup

    /** A picture of the screen, under this name in target/shots. */
    fun shot(name: String, of: View? = null) {
        // A click is laid out in the frame after it.
        advance(2 * FRAME_MS)
        val view = of ?: root
        val bitmap = Bitmap.createBitmap(view.width, view.height, Bitmap.Config.ARGB_8888)
        view.draw(Canvas(bitmap))
        val file = File(System.getProperty("shots"), "$name.png")
        file.parentFile?.mkdirs()
        file.outputStream().use { bitmap.compress(Bitmap.CompressFormat.PNG, 100, it) }
    }

    override fun close() {
        controller.pause().stop().destroy()
    }

    companion object {
        private const val FRAME_MS = 16L

        /** Opens the app with the server at [url], waits for its first frame, and asks. */
        fun asking(url: String, story: String? = null, extras: Intent.() -> Unit = {}): Phone {
            val intent = Intent().putExtra("server", url)
            story?.let { intent.putExtra("story", it) }
            val phone = opened(intent.apply(extras))
            phone.activity.ask(Story.named(story)?.question ?: "Go on.")
            return phone
        }

        /** Opens the app, and waits until it has drawn. */
        fun opened(intent: Intent, saved: Bundle? = null): Phone {
            // Frames come with the phone's clock, as on a screen with 60 Hz.
            ShadowChoreographer.setPaused(true)
            ShadowChoreographer.setFrameDelay(Duration.ofMillis(FRAME_MS))
            val controller = Robolectric.buildActivity(MainActivity::class.java, intent)
            val phone = Phone(if (saved == null) controller.setup() else controller.setup(saved))
            phone.watch()
            phone.until("the first frame") { phone.activity.frames.passes > 0 }
            return phone
        }

        fun all(view: View): Sequence<View> = sequence {
            yield(view)
            if (view is ViewGroup) for (i in 0 until view.childCount) yieldAll(all(view.getChildAt(i)))
        }
    }
}
