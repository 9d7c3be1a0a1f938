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
    /// What this scenario also measures, and the most it may be. No times: these depend on the machine.
    var most: [String: Double] = [:]
    /// The same, for what must be just so.
    var exactly: [String: Double] = [:]
    /// Times, and ratios of times. One that is longer is a remark and nothing wrong.
    var times: [String: Double] = [:]
    /// As ``times``, of single networks.
    var timesOn: [DemoNetwork: [String: Double]] = [:]

    /// How this program was built, for the file of the figures: its times are limits of a release build.
    #if DEBUG
        static let build = "debug"
    #else
        static let build = "release"
    #endif

    /// In words, as in the table of the journeys.
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
        let facts =
            (most.map { ($0, $1, "at most ") } + exactly.map { ($0, $1, "") })
            .sorted { $0.0 < $1.0 }
            .compactMap { name, wanted, how -> String? in
                guard let figure = after.figures[name] else { return "\(name) was not measured" }
                let holds = how.isEmpty ? figure == wanted : figure <= wanted
                if holds { return nil }
                return "\(name) is \(Self.number(figure)), not \(how)\(Self.number(wanted))"
            }
        // A time that is long is no fact, and one that nobody took is.
        let untaken = limits(on: network).keys.filter { after.figures[$0] == nil }.sorted()
        return facts + untaken.map { "\($0) was not measured" }
    }

    private func limits(on network: DemoNetwork) -> [String: Double] {
        times.merging(timesOn[network] ?? [:]) { min($0, $1) }
    }

    /// Times that are longer than they may be; none of a use that did not come to its end.
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
