package dev.rejoin.sample

import android.content.Context
import android.net.ConnectivityManager
import android.net.Network
import dev.rejoin.Signal

/**
 * What Android says of the network, as Rejoin's signals. A retry parks while there is none, and a
 * socket of a network that is gone is given up at once instead of after a timeout.
 */
class DeviceNetwork(context: Context, private val tell: (Signal) -> Unit) {
    private val manager =
        context.getSystemService(Context.CONNECTIVITY_SERVICE) as ConnectivityManager

    @Volatile private var lost = manager.activeNetwork == null

    private val callback = object : ConnectivityManager.NetworkCallback() {
        private var current: Network? = null

        override fun onAvailable(network: Network) {
            when {
                lost -> tell(Signal.NETWORK_AVAILABLE)
                // The first call only tells which network there is.
                current != null && current != network -> tell(Signal.NETWORK_CHANGED)
            }
            current = network
            lost = false
        }

        override fun onLost(network: Network) {
            lost = true
            tell(Signal.NETWORK_LOST)
        }
    }

    fun start() {
        // No callback tells that there is no network to begin with.
        if (lost) tell(Signal.NETWORK_LOST)
        manager.registerDefaultNetworkCallback(callback)
    }

    fun stop() = manager.unregisterNetworkCallback(callback)
}
