package dev.rejoin.sample

import android.app.Activity
import android.content.Context
import android.os.Bundle
import android.os.Handler
import android.os.Looper
import android.view.View
import android.view.inputmethod.EditorInfo
import android.widget.EditText
import android.widget.ImageButton
import android.widget.LinearLayout
import android.widget.TextView
import dev.rejoin.Signal
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.MainScope
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch

/**
 * The chat screen. It draws what the [Conversation] holds, once per frame at most, and may be
 * thrown away at any time: the conversation goes on, and the next Activity reads on from there.
 */
class MainActivity : Activity() {
    private lateinit var scope: CoroutineScope
    private lateinit var strip: StripView
    private lateinit var list: LinearLayout
    private lateinit var follower: ScrollFollower
    private lateinit var network: DeviceNetwork
    private val main = Handler(Looper.getMainLooper())
    private val views = mutableListOf<ExchangeView>()
    private val followers = mutableMapOf<Exchange, Job>()
    private val tick = Runnable { frames.request() }

    /** Draws the screen; counts its passes. */
    val frames = FrameLoop(::draw)

    /** What is on this screen, and outlives it. */
    lateinit var conversation: Conversation
        private set

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        scope = MainScope()
        @Suppress("DEPRECATION") // What a ViewModel is made of; the app does without androidx.
        val kept = lastNonConfigurationInstance as Conversation?
        conversation = kept ?: newConversation(state)
        setContentView(R.layout.main)
        strip = StripView(findViewById(R.id.strip))
        list = findViewById(R.id.exchanges)
        follower = ScrollFollower(findViewById(R.id.scroll), findViewById(R.id.latest))
        findViewById<View>(R.id.open_settings).setOnClickListener { openSettings() }
        findViewById<View>(R.id.drop_now).setOnClickListener {
            // What Android says when Wi-Fi takes over from the mobile network: the core gives the
            // socket up at once and recovers by its rules.
            conversation.signal(Signal.NETWORK_CHANGED)
        }
        findViewById<View>(R.id.ask_again).setOnClickListener { askAgain() }
        findViewById<View>(R.id.send).setOnClickListener { sendOrStop() }
        findViewById<EditText>(R.id.question).setOnEditorActionListener { _, action, _ ->
            (action == EditorInfo.IME_ACTION_SEND).also { if (it) sendOrStop() }
        }
        network = DeviceNetwork(this, conversation.device)
        network.start()
        if (kept == null && state == null && intent.getBooleanExtra("autostart", false)) {
            ask(intent.getStringExtra("prompt") ?: conversation.settings.story?.question ?: return)
        }
    }

    override fun onStart() {
        super.onStart()
        conversation.changed = frames::request
        follow()
        frames.start()
    }

    override fun onStop() {
        // In the background nothing is drawn and nothing read; the turn runs on.
        frames.stop()
        main.removeCallbacks(tick)
        stopFollowing()
        conversation.changed = {}
        super.onStop()
    }

    override fun onSaveInstanceState(state: Bundle) {
        super.onSaveInstanceState(state)
        SavedScreen.save(conversation, state)
    }

    @Deprecated("What a ViewModel is made of; the app does without androidx.")
    override fun onRetainNonConfigurationInstance(): Any = conversation

    override fun onDestroy() {
        network.stop()
        scope.cancel()
        if (!isChangingConfigurations) conversation.close()
        super.onDestroy()
    }

    private fun newConversation(state: Bundle?): Conversation {
        val app = applicationContext
        val ledger = SavedLedger { app.getSharedPreferences("ledger", Context.MODE_PRIVATE) }
        val new = Conversation(ledger, RefundDesk())
        new.settings = SavedScreen.settings(new.settings, intent)
        if (state != null) SavedScreen.restore(state, new)
        return new
    }

    /** Asks, and shows the answer as it comes. */
    fun ask(question: String) {
        conversation.ask(question)
        follower.jump()
        follow()
        frames.request()
    }

    private fun askAgain() {
        val last = conversation.exchanges.lastOrNull() ?: return
        conversation.forget(last)
        conversation.settings = conversation.settings.copy(story = last.story)
        // Under its old id: what the ledger knows is not run again.
        conversation.ask(last.question, last.turnId)
        follow()
        frames.request()
    }

    private fun sendOrStop() {
        if (conversation.running != null) return conversation.cancel() ?: Unit
        val field = findViewById<EditText>(R.id.question)
        val question = field.text.toString().trim()
        if (question.isEmpty()) return
        field.setText("")
        ask(question)
    }

    /** Reads on every turn that has not been read to its end. */
    private fun follow() {
        for (exchange in conversation.exchanges) {
            if (!exchange.running || followers[exchange]?.isActive == true) continue
            followers[exchange] = scope.launch(Dispatchers.Default) {
                exchange.follow(Conversation::clock, frames::request)
            }
        }
    }

    private fun stopFollowing() {
        followers.values.forEach { it.cancel() }
        followers.clear()
    }

    private fun openSettings() = SettingsSheet(this, conversation.settings) { new ->
        val presentation = conversation.settings.presentation
        conversation.settings = new
        if (new.presentation != presentation) presentAnew(new)
        frames.request()
    }.show()

    /** Draws all turns in another way: their events are read again from the first one. */
    private fun presentAnew(settings: Settings) {
        stopFollowing()
        list.removeAllViews()
        views.clear()
        conversation.exchanges.forEach { it.present(settings.presentation) }
        follow()
    }

    private fun draw() {
        val now = Conversation.clock()
        val settings = conversation.settings
        matchViews(settings)
        var moving = false
        var counting = false
        if (views.isEmpty()) strip.hide()
        for (view in views) {
            // Read once: events come meanwhile, and the strip must not be ahead of the answer.
            val screen = view.exchange.screen()
            moving = view.show(screen, now) or moving
            if (view === views.last()) counting = strip.show(view.exchange, screen, now)
        }
        showHeader(settings)
        showSend(conversation.running != null)
        follower.afterDraw()
        main.removeCallbacks(tick)
        if (moving) frames.request() else if (counting) main.postDelayed(tick, TICK_MS)
    }

    private fun matchViews(settings: Settings) {
        val exchanges = conversation.exchanges
        val same = views.map { it.exchange } == exchanges
        if (same && list.childCount > 0) return
        list.removeAllViews()
        val old = views.toList()
        views.clear()
        for (exchange in exchanges) {
            val view = old.firstOrNull { it.exchange === exchange }
                ?: ExchangeView(list, exchange, conversation.desk, settings.presentation, scope)
            views += view
            list.addView(view.root)
        }
        if (exchanges.isEmpty()) list.addView(welcome(list) { story ->
            conversation.settings = conversation.settings.copy(story = story)
            ask(story.question)
        })
    }

    private fun showHeader(settings: Settings) {
        val where = findViewById<TextView>(R.id.where)
        where.set(
            if (settings.usesGemini) getString(R.string.on_gemini, settings.model)
            else getString(R.string.on_server, settings.model, settings.network.profile),
        )
    }

    private fun showSend(running: Boolean) {
        val button = findViewById<ImageButton>(R.id.send)
        if (button.tag == running) return
        button.tag = running
        button.setImageResource(if (running) R.drawable.ic_stop else R.drawable.ic_send)
        button.contentDescription = getString(if (running) R.string.stop else R.string.send)
    }

    private companion object {
        /** Often enough that no second is skipped. */
        const val TICK_MS = 200L
    }
}
