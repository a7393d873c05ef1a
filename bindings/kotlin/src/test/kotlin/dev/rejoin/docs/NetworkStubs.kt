// As Stubs.kt, of Android's networks.
package android.net

class Network

class NetworkCapabilities {
    fun hasCapability(capability: Int): Boolean = capability == 0

    companion object {
        const val NET_CAPABILITY_NOT_METERED = 11
    }
}

class ConnectivityManager {
    open class NetworkCallback {
        open fun onCapabilitiesChanged(network: Network, networkCapabilities: NetworkCapabilities) = Unit
        open fun onLost(network: Network) = Unit
    }

    fun registerDefaultNetworkCallback(callback: NetworkCallback) = callback.hashCode()
}
