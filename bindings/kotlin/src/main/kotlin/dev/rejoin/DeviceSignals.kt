package dev.rejoin

/**
 * Turns what a platform says of its networks and of the app's life into signals for the turns that
 * run. Feed it from `ConnectivityManager.NetworkCallback` and a lifecycle observer; it knows nothing
 * of Android. Safe to use from any thread.
 *
 * A network that comes back is `NETWORK_AVAILABLE`, another one in place of it `NETWORK_CHANGED`:
 * sockets of the old one are dead.
 */
class DeviceSignals {
    private val turns = LinkedHashSet<Turn>()
    private var network: Any? = null
    private var lost = false

    /** Signals go to this turn from now on, and it is told at once if there is no network. */
    fun attach(turn: Turn): Unit = synchronized(this) {
        turns += turn
        if (lost) turn.signal(Signal.NETWORK_LOST)
    }

    /** The turn is over or gone. */
    fun detach(turn: Turn): Unit = synchronized(this) { turns -= turn }

    /**
     * The default network is this one.
     *
     * @param metered whether its bytes cost money, where that is known.
     */
    fun networkAvailable(network: Any, metered: Boolean? = null): Unit = synchronized(this) {
        val before = this.network
        val wasLost = lost
        this.network = network
        lost = false
        when {
            before == null || before == network -> if (wasLost) tell(Signal.NETWORK_AVAILABLE)
            metered == null -> tell(Signal.NETWORK_CHANGED)
            else -> turns.forEach { it.networkChanged(metered) }
        }
    }

    /**
     * This network is gone. If it was the default one, there is none until another is available.
     * Without a name: there is none, as an app may find when it starts.
     */
    fun networkLost(network: Any? = null): Unit = synchronized(this) {
        if (network == null || this.network == null || this.network == network) {
            lost = true
            tell(Signal.NETWORK_LOST)
        }
    }

    /**
     * The app leaves the screen and may be suspended. Returns when all turns are in their journal:
     * within 250 ms.
     */
    suspend fun willSuspend() = attached().forEach { it.willSuspend() }

    /** The app is back. Returns at once. */
    fun resumed(): Unit = synchronized(this) { tell(Signal.RESUMED) }

    private fun attached(): List<Turn> = synchronized(this) { turns.toList() }

    private fun tell(signal: Signal) = turns.forEach { it.signal(signal) }
}
