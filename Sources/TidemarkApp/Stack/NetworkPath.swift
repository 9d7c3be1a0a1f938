/// The system's description of its path to the network.
struct NetworkPath: Hashable, Sendable {
    /// True if the path allows a connection.
    var isUsable = true
    /// True if the path is paid by the amount: a phone's network, or another phone's hotspot.
    var isExpensive = false
    /// True if the user asks apps to save data on the path.
    var isConstrained = false
    /// The interfaces and gateways of the path, the preferred first.
    var ways: [String] = []
}

/// Translates changes of the path into signals.
struct NetworkPathMachine: Equatable, Sendable {
    /// The last path; nil before the first report. The network then counts as usable, which is also
    /// the assumption of a client at its start.
    private(set) var last: NetworkPath?

    mutating func step(_ path: NetworkPath) -> [AppSignal] {
        defer { last = path }
        var signals: [AppSignal] = []
        let wasUsable = last?.isUsable ?? true
        if !path.isUsable {
            if wasUsable { signals.append(.networkIsGone) }
        } else if let last, !wasUsable || last.ways != path.ways {
            // The first report is no change: at a launch there is no connection to renew.
            signals.append(.networkIsBack)
        }
        // Without a usable network, the other properties have no meaning.
        guard path.isUsable else { return signals }
        let savesData = path.isExpensive || path.isConstrained
        if savesData != isExpensive {
            isExpensive = savesData
            signals.append(.networkIsExpensive(savesData))
        }
        return signals
    }

    /// The last signalled value.
    private var isExpensive = false
}
