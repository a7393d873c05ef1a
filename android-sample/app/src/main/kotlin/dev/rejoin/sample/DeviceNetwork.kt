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

    private val callback = object : ConnectivityManager.NetworkCallback() {
        private var current: Network? = null
        private var lost = false

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
        manager.registerDefaultNetworkCallback(callback)
        @Suppress("DEPRECATION") // The way to ask for it on API 24, where no callback tells.
        if (manager.activeNetworkInfo?.isConnected == false) tell(Signal.NETWORK_LOST)
    }

    fun stop() = manager.unregisterNetworkCallback(callback)
}
