package dev.rejoin.sample

import android.content.Context
import android.net.ConnectivityManager
import android.net.Network
import dev.rejoin.DeviceSignals

/**
 * What Android says of the network, for Rejoin's signals. A retry parks while there is none, and a
 * socket of a network that is gone is given up at once instead of after a timeout.
 */
class DeviceNetwork(context: Context, private val device: DeviceSignals) {
    private val manager =
        context.getSystemService(Context.CONNECTIVITY_SERVICE) as ConnectivityManager

    private val callback = object : ConnectivityManager.NetworkCallback() {
        override fun onAvailable(network: Network) = device.networkAvailable(network)

        override fun onLost(network: Network) = device.networkLost(network)
    }

    fun start() {
        // No callback tells that there is no network to begin with.
        if (manager.activeNetwork == null) device.networkLost()
        manager.registerDefaultNetworkCallback(callback)
    }

    fun stop() = manager.unregisterNetworkCallback(callback)
}
