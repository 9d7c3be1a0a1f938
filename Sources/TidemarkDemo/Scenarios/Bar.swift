import Foundation

/// The requirements for a scenario. They are in addition to showing every item exactly once.
struct Bar: Sendable {
    /// The maximum number of billed reads of one use; nil for no limit.
    var reads: Int?
    /// The minimum share of the reads before that the app on Tidemark must save.
    var fewer: Double?
    /// True if the device's own count must equal the bill. It applies only if no answer was lost.
    var isKnownToDevice = false
    /// True if a device that holds content must show it before there is a network.
    var showsContentOffline = true
    /// The upper limits of the scenario's other figures, by name. They are never times, which
    /// depend on the machine.
    var most: [String: Double] = [:]
    /// The exact values that other figures must have, by name.
    var exactly: [String: Double] = [:]
    /// The upper limits of times and of ratios of times. A longer time is a remark and no failure.
    var times: [String: Double] = [:]
    /// The same limits as ``times``, for single networks only.
    var timesOn: [DemoNetwork: [String: Double]] = [:]

    /// The kind of build, for the file with the figures. The limits of times apply to a release
    /// build.
    #if DEBUG
        static let build = "debug"
    #else
        static let build = "release"
    #endif

    /// The requirements in words, as in the table of the journeys.
    var text: String {
        var parts: [String] = []
        if let reads { parts.append("at most \(reads) reads") }
        if let fewer { parts.append("\(Self.percent(fewer)) fewer reads") }
        parts += Self.texts(of: most) { "\($0) at most \(Self.number($1))" }
        parts += Self.texts(of: exactly) { "\($0) \(Self.number($1))" }
        parts += Self.texts(of: times) { "\($0) at most \(Self.number($1))" }
        for (network, limits) in timesOn.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            parts += Self.texts(of: limits) {
                "on \(network.rawValue) \($0) at most \(Self.number($1))"
            }
        }
        return (parts + ["0 missed, 0 shown twice"]).joined(separator: "; ")
    }

    private static func texts(
        of figures: [String: Double], _ text: (String, Double) -> String
    ) -> [String] {
        figures.sorted { $0.key < $1.key }.map { text($0.key, $0.value) }
    }

    /// Returns the failed requirements; empty if all hold.
    ///
    /// A lost answer was billed, and the device must ask again. If a network loses `n` answers, the
    /// limit of reads is therefore multiplied by `n + 1`.
    func complaints(
        before: Measured, after: Measured, on network: DemoNetwork
    ) -> [String] {
        if let failure = after.failure { return ["it did not end: \(failure)"] }
        var complaints: [String] = []
        let times = after.lostAnswers + 1
        if let reads, after.reads > reads * times {
            complaints.append("\(after.reads) reads, but the limit is \(reads * times)")
        }
        if let fewer {
            let most = Double(before.reads) * (1 - fewer) * Double(times)
            // The tolerance is for fractions such as 0.995, which are not exact in binary.
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
            complaints.append("nothing was shown before the network came back")
        }
        return complaints
    }

    private func figureComplaints(_ after: Measured, on network: DemoNetwork) -> [String] {
        let facts =
            (most.map { ($0, $1, "at most ") } + exactly.map { ($0, $1, "") })
            .sorted { $0.0 < $1.0 }
            .compactMap { name, wanted, how -> String? in
                guard let figure = after.figures[name] else { return "\(name) was not measured" }
                let holds = how.isEmpty ? figure == wanted : figure <= wanted
                if holds { return nil }
                return "\(name) is \(Self.number(figure)), not \(how)\(Self.number(wanted))"
            }
        // A long time is no failure, but a time that was not measured is one.
        let untaken = limits(on: network).keys.filter { after.figures[$0] == nil }.sorted()
        return facts + untaken.map { "\($0) was not measured" }
    }

    private func limits(on network: DemoNetwork) -> [String: Double] {
        times.merging(timesOn[network] ?? [:]) { min($0, $1) }
    }

    /// Returns the times that exceed their limits; empty for a use that failed.
    func slow(_ after: Measured, on network: DemoNetwork) -> [SlowTime] {
        if after.failure != nil { return [] }
        return limits(on: network).sorted { $0.key < $1.key }.compactMap { name, limit in
            after.figures[name].flatMap { SlowTime(name, $0, limit: limit) }
        }
    }

    static func percent(_ share: Double) -> String { number(share * 100) + " %" }

    static func number(_ value: Double) -> String {
        if !value.isFinite { return "endless" }
        return value == value.rounded() ? String(Int(value)) : String(format: "%.4g", value)
    }
}
