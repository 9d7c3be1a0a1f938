import Tidemark

/// The networks on which a file may not be sent. Without a rule, a file is sent on every network.
///
/// ```swift
/// let film = FileUpload(photo, networks: [.wifiOnly, .notOnLowData])
/// ```
///
/// A file that may not be sent now waits, and says which rules the network breaks:
/// ``WaitingFile/State/waitingForNetwork(_:)``. Its upload begins, or continues where it was, when
/// the network allows it.
public struct NetworkRules: OptionSet, Hashable, Sendable {
    /// Bits that are stored with the file.
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Not on a network that is paid by the amount: a phone's network, or a phone's hotspot.
    public static let wifiOnly = NetworkRules(rawValue: 1 << 0)
    /// Not while the user asks apps to save data on the network: Low Data Mode.
    public static let notOnLowData = NetworkRules(rawValue: 1 << 1)

    /// The rules that a network breaks.
    init(brokenBy network: NetworkCost) {
        self = []
        if network.isExpensive { insert(.wifiOnly) }
        if network.isConstrained { insert(.notOnLowData) }
    }

    /// The rules as they are stored. Bits of a later version stay, and no network breaks them.
    init(stored bits: Int64) { self.init(rawValue: Int(truncatingIfNeeded: bits)) }

    var stored: Int64 { Int64(rawValue) }
}

extension FileOutbox {
    /// Reports the present network, for the files with ``NetworkRules``. A `TidemarkStack` of this
    /// client reports it from the signals of the app; without a stack the app calls this function.
    ///
    /// Until the first report, the network counts as one without a cost. A file that may no longer
    /// be sent stops before its next chunk, so at most 8 MiB follow the report.
    ///
    /// - Parameters:
    ///   - isExpensive: True if the network is paid by the amount, as `NWPath.isExpensive`.
    ///   - isConstrained: True if the user asks apps to save data, as `NWPath.isConstrained`.
    nonisolated public func setNetwork(isExpensive: Bool, isConstrained: Bool) {
        network.set(NetworkCost(isExpensive: isExpensive, isConstrained: isConstrained))
    }
}
