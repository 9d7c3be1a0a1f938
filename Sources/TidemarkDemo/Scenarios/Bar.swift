import Foundation

/// What has to hold of a scenario, beside that nothing is missed and nothing shown twice.
struct Bar: Sendable {
    /// The most reads that one use may be billed; nil for no limit of its own.
    var reads: Int?
    /// The share of the reads before that must be saved.
    var fewer: Double?
    /// Whether the device has to know what it was billed, as long as no answer was lost.
    var isKnownToDevice = false
    /// Whether a device that holds something shows it before there is a network.
    var showsContentOffline = true
    /// What this scenario also measures, and the most it may be.
    var most: [String: Double] = [:]
    /// The same, for what must be just so.
    var exactly: [String: Double] = [:]
    /// As ``most``, of single networks.
    var mostOn: [DemoNetwork: [String: Double]] = [:]
    /// As ``most``, for times that a build for debugging cannot be held to: there they are only shown.
    var mostInRelease: [String: Double] = [:]

    #if DEBUG
        static let isRelease = false
    #else
        static let isRelease = true
    #endif
    /// For a bar that only a release build is held to.
    static let remark = isRelease ? "" : " (not judged in a debug build)"

    /// In words, as in the table of the journeys.
    var text: String {
        var parts: [String] = []
        if let reads { parts.append("at most \(reads) reads") }
        if let fewer { parts.append("\(Self.percent(fewer)) fewer reads") }
        for (name, limit) in most.sorted(by: { $0.key < $1.key }) {
            parts.append("\(name) at most \(Self.number(limit))")
        }
        for (name, figure) in exactly.sorted(by: { $0.key < $1.key }) {
            parts.append("\(name) \(Self.number(figure))")
        }
        for (network, limits) in mostOn.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for (name, limit) in limits.sorted(by: { $0.key < $1.key }) {
                parts.append("on \(network.rawValue) \(name) at most \(Self.number(limit))")
            }
        }
        for (name, limit) in mostInRelease.sorted(by: { $0.key < $1.key }) {
            parts.append("\(name) at most \(Self.number(limit))\(Self.remark)")
        }
        return (parts + ["0 missed, 0 shown twice"]).joined(separator: "; ")
    }

    /// Why it does not hold; empty when it does.
    ///
    /// An answer that is lost was billed, and the question has to be asked again: nobody can hold the
    /// reads of a network that loses `n` answers under `n + 1` times those of one that loses none.
    func complaints(
        before: Measured, after: Measured, on network: DemoNetwork
    ) -> [String] {
        if let failure = after.failure { return ["it did not come to an end: \(failure)"] }
        var complaints: [String] = []
        let times = after.lostAnswers + 1
        if let reads, after.reads > reads * times {
            complaints.append("\(after.reads) reads, and \(reads * times) are the most")
        }
        if let fewer {
            let most = Double(before.reads) * (1 - fewer) * Double(times)
            // Fractions as 0.995 are not exact.
            if Double(after.reads) > most + 1e-6 {
                complaints.append(
                    "\(after.reads) reads for \(before.reads) are not \(Self.percent(fewer)) fewer")
            }
        }
        if isKnownToDevice, after.lostAnswers == 0, after.deviceReads != after.reads {
            let counted = after.deviceReads.map(String.init) ?? "nothing"
            complaints.append("the device counted \(counted) of \(after.reads) reads")
        }
        complaints += figureComplaints(after, on: network)
        let counts = [
            (after.difference.missed, "missed"), (after.difference.doubled, "shown twice"),
            (after.difference.outdated, "shown in an old version"),
            (after.difference.deletedShown, "shown though deleted or cleared"),
        ]
        for (ids, what) in counts where !ids.isEmpty {
            complaints.append("\(ids.count) \(what), as \(ids.min() ?? "")")
        }
        if network == .offline, showsContentOffline, !after.hadContentOffline {
            complaints.append("nothing was shown before the network was back")
        }
        return complaints
    }

    private func figureComplaints(_ after: Measured, on network: DemoNetwork) -> [String] {
        var limits = most.merging(mostOn[network] ?? [:]) { min($0, $1) }
        if Self.isRelease { limits.merge(mostInRelease) { min($0, $1) } }
        return (limits.map { ($0, $1, "at most ") } + exactly.map { ($0, $1, "") })
            .sorted { $0.0 < $1.0 }
            .compactMap { name, wanted, how in
                guard let figure = after.figures[name] else { return "\(name) was not measured" }
                let holds = how.isEmpty ? figure == wanted : figure <= wanted
                if holds { return nil }
                return "\(name) is \(Self.number(figure)), not \(how)\(Self.number(wanted))"
            }
    }

    static func percent(_ share: Double) -> String { number(share * 100) + " %" }

    static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(format: "%.4g", value)
    }
}
