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

    /// The last signalled values.
    private var isExpensive = false
    private var savesData = false

    /// Returns the cost of a network before the network itself, so that nothing is sent on it too
    /// early.
    mutating func step(_ path: NetworkPath) -> [AppSignal] {
        defer { last = path }
        let wasUsable = last?.isUsable ?? true
        // Without a usable network, the other properties have no meaning.
        guard path.isUsable else { return wasUsable ? [.networkIsGone] : [] }
        var signals: [AppSignal] = []
        if path.isExpensive != isExpensive {
            isExpensive = path.isExpensive
            signals.append(.networkIsExpensive(isExpensive))
        }
        if path.isConstrained != savesData {
            savesData = path.isConstrained
            signals.append(.networkSavesData(savesData))
        }
        // The first report is no change: at a launch there is no connection to renew.
        if let last, !wasUsable || last.ways != path.ways { signals.append(.networkIsBack) }
        return signals
    }
}
