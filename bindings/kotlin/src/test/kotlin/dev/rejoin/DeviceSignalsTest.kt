package dev.rejoin

import kotlin.test.Test
import kotlin.test.assertEquals
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emptyFlow
import kotlinx.coroutines.runBlocking

class DeviceSignalsTest {
    private val told = mutableListOf<String>()
    private val turn = object : Turn {
        override val id = "t"
        override fun events(after: Long): Flow<TurnEvent> = emptyFlow()
        override suspend fun await(): Answer = error("never")
        override fun cancel() = Unit
        override fun signal(signal: Signal) { told += signal.name }
        override fun networkChanged(metered: Boolean) { told += "NETWORK_CHANGED metered=$metered" }
        override fun snapshot(): Snapshot = error("never")
    }
    private val device = DeviceSignals()

    private fun telling(vararg expected: String, step: () -> Unit) {
        told.clear()
        step()
        assertEquals(expected.toList(), told)
    }

    @Test
    fun `another network is a change, and the same one again is none`() {
        device.attach(turn)
        telling { device.networkAvailable("wifi", false) }
        telling { device.networkAvailable("wifi", false) }
        telling("NETWORK_CHANGED metered=true") { device.networkAvailable("cell", true) }
        telling { device.networkLost("wifi") }
        telling("NETWORK_LOST") { device.networkLost("cell") }
        telling("NETWORK_AVAILABLE") { device.networkAvailable("cell", true) }
        telling("NETWORK_LOST") { device.networkLost("cell") }
        telling("NETWORK_CHANGED") { device.networkAvailable("wifi") }
        telling("NETWORK_LOST") { device.networkLost() }
        telling("NETWORK_AVAILABLE") { device.networkAvailable("wifi") }
        telling("WILL_SUSPEND") { runBlocking { device.willSuspend() } }
        telling("RESUMED") { device.resumed() }
        device.detach(turn)
        telling { device.resumed() }
    }

    @Test
    fun `a turn that begins offline is told so`() {
        device.networkLost("wifi")
        telling("NETWORK_LOST") { device.attach(turn) }
    }
}
