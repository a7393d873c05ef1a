package dev.rejoin.sample

import android.os.Handler
import android.os.Looper
import android.view.Choreographer
import java.util.concurrent.atomic.AtomicBoolean

/**
 * Draws at most once per display frame, however many events come: a change only asks for the next
 * frame, and whoever asks again before it is late has been heard already.
 */
class FrameLoop(private val draw: () -> Unit) {
    private val main = Handler(Looper.getMainLooper())
    private val asked = AtomicBoolean()
    private var stopped = true

    private val frame = Choreographer.FrameCallback {
        asked.set(false)
        if (!stopped) {
            passes += 1
            draw()
            drawn()
        }
    }

    /** Told after each frame. */
    var drawn: () -> Unit = {}

    /** How many frames were drawn. */
    var passes = 0L
        private set

    /** Asks for a frame, from any thread. */
    fun request() {
        if (!asked.compareAndSet(false, true)) return
        if (Looper.myLooper() == Looper.getMainLooper()) post() else main.post(::post)
    }

    fun start() {
        stopped = false
        request()
    }

    fun stop() {
        stopped = true
    }

    private fun post() = Choreographer.getInstance().postFrameCallback(frame)
}
