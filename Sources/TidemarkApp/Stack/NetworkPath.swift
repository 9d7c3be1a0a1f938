/// What a system says of its way to the network.
struct NetworkPath: Hashable, Sendable {
    /// Whether a connection can be made over it.
    var isUsable = true
    /// It is paid by the amount: a phone's network, or another phone's hotspot.
    var isExpensive = false
    /// The person asks apps to save data on it.
    var isConstrained = false
    /// What it leads through, interfaces and gateways, the preferred first.
    var ways: [String] = []
}

/// What changes of the path mean to an app's data.
struct NetworkPathMachine: Equatable, Sendable {
    /// The path of a device that has said nothing: all is well, as a client takes it at its start.
    private(set) var last: NetworkPath?

    mutating func step(_ path: NetworkPath) -> [AppSignal] {
        defer { last = path }
        var signals: [AppSignal] = []
        let wasUsable = last?.isUsable ?? true
        if !path.isUsable {
            if wasUsable { signals.append(.networkIsGone) }
        } else if let last, !wasUsable || last.ways != path.ways {
            // The first word is not a change: at a launch nothing has to be connected anew.
            signals.append(.networkIsBack)
        }
        // Of no network it says nothing that would hold.
        guard path.isUsable else { return signals }
        let savesData = path.isExpensive || path.isConstrained
        if savesData != isExpensive {
            isExpensive = savesData
            signals.append(.networkIsExpensive(savesData))
        }
        return signals
    }

    /// As it was told last.
    private var isExpensive = false
}
