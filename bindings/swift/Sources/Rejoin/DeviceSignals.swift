import RejoinBindings

#if canImport(Network)
    import Network
#endif

/// Turns what the system says of its networks and of the app's life into signals for the turns that
/// run. Safe to use from any thread.
///
/// A network that comes back is `.networkAvailable`, another one in place of it `.networkChanged`:
/// sockets of the old one are dead.
public final class DeviceSignals: Sendable {
    private struct Known {
        weak var turn: Turn?
    }

    private struct State {
        var turns: [Known] = []
        var network: String?
        var lost = false
    }

    private let state = Locked(State())

    /// Signals for no turn yet.
    public init() {}

    /// Signals go to this turn from now on, as long as somebody holds it, and it is told at once if
    /// there is no network.
    public func attach(_ turn: Turn) {
        let lost = state.with { state in
            state.turns.removeAll { $0.turn == nil }
            state.turns.append(Known(turn: turn))
            return state.lost
        }
        if lost { turn.signal(.networkLost) }
    }

    /// The network in use is this one; nil: there is none.
    ///
    /// - Parameters:
    ///   - network: any name that tells one network from another.
    ///   - metered: whether its bytes cost money.
    public func network(_ network: String?, metered: Bool) {
        enum Word { case nothing, lost, available, changed }
        let word: Word = state.with { state in
            guard let network else {
                defer { state.lost = true }
                return state.lost ? .nothing : .lost
            }
            defer { (state.network, state.lost) = (network, false) }
            if let before = state.network, before != network { return .changed }
            return state.lost ? .available : .nothing
        }
        for turn in turns {
            switch word {
            case .nothing: break
            case .lost: turn.signal(.networkLost)
            case .available: turn.signal(.networkAvailable)
            case .changed: turn.networkChanged(metered: metered)
            }
        }
    }

    /// The app leaves the screen and may be suspended. Returns when all turns are in their journal:
    /// within 250 ms. Call it inside of `beginBackgroundTask`.
    public func willSuspend() async {
        for turn in turns { await turn.willSuspend() }
    }

    /// The app is back. Returns at once.
    public func resumed() {
        for turn in turns { turn.signal(.resumed) }
    }

    private var turns: [Turn] { state.with { $0.turns.compactMap(\.turn) } }

    #if canImport(Network)
        /// What `NWPathMonitor` says: `monitor.pathUpdateHandler = device.update`.
        @Sendable public func update(_ path: NWPath) {
            let names = path.availableInterfaces.first.map { "\($0.type) \($0.index)" }
            network(path.status == .satisfied ? names ?? "some" : nil, metered: path.isExpensive)
        }
    #endif
}
