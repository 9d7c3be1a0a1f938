import TidemarkModel

/// The days of many devices, summed up: the screens by cost, with the group of users that pays most
/// for each, and the version since which it costs more.
package struct FleetReport: Hashable, Sendable {
    package struct Screen: Hashable, Sendable {
        /// The name of the screen; empty for reads without one.
        package let name: String
        package let reads: Int
        /// The price in US dollars, a share of the price of the days.
        package let dollars: Double
        /// The reads of a device on a day on which it read for this screen.
        package let readsADay: Double
        /// The part of the app with the most reads: a label and a cause.
        package let part: String
        /// The group with the most reads of a device and day; nil if there is one group alone.
        package let group: Group?
        /// The version since which the screen costs more; nil if no version made it cost more.
        package let rise: Rise?
    }

    package struct Group: Hashable, Sendable {
        package let name: String
        package let readsADay: Double
    }

    package struct Rise: Hashable, Sendable {
        package let version: String
        package let before: String
        /// The reads of a device and day with the version, and with the one before it.
        package let readsADay, readsADayBefore: Double
    }

    /// The number of documents, each of a device and a day.
    package let deviceDays: Int
    /// The first and the last day; nil if there are no documents.
    package let first, last: String?
    package let reads: Int
    /// The number of reads that caches answered.
    package let cached: Int
    package let dollars: Double
    /// The screens, the most expensive first.
    package let screens: [Screen]

    /// The factor from which a version counts as a rise.
    static let rise = 1.25
    /// The least number of days of devices that a version needs to be compared.
    static let leastDays = 3

    package init(_ days: [FleetDay]) {
        deviceDays = days.count
        first = days.map(\.day).min()
        last = days.map(\.day).max()
        reads = days.reduce(0) { $0 + $1.reads }
        cached = days.reduce(0) { $0 + $1.cached }
        dollars = days.reduce(0) { $0 + $1.dollars }
        var sums: [ByteString: ScreenSums] = [:]
        for day in days {
            for (screen, reads) in day.readsByScreen {
                sums[screen, default: ScreenSums()].add(day, reads: reads, screen: screen)
            }
        }
        let order = Self.versions(days)
        let hasGroups = Set(days.map(\.group)).count > 1
        screens = sums.map { name, sums in
            sums.screen(name.text, versions: order, hasGroups: hasGroups)
        }.sorted { ($1.dollars, $1.reads, $0.name) < ($0.dollars, $0.reads, $1.name) }
    }

    /// Returns the versions in the order of the days on which they were first seen. Versions of the
    /// same day are in the order of their numbers.
    private static func versions(_ days: [FleetDay]) -> [String] {
        var firsts: [String: String] = [:]
        for day in days {
            firsts[day.version] = min(firsts[day.version] ?? day.day, day.day)
        }
        return firsts.sorted { ($0.value, $0.key.parts) < ($1.value, $1.key.parts) }.map(\.key)
    }
}

extension FleetDay {
    /// The reads of each screen.
    fileprivate var readsByScreen: [ByteString: Int] {
        rows.reduce(into: [:]) { $0[ByteString($1.screen), default: 0] += $1.reads }
    }
}

/// The sums of a screen.
private struct ScreenSums {
    private struct Count {
        var reads = 0
        var days = 0
        var readsADay: Double { days == 0 ? 0 : Double(reads) / Double(days) }
    }

    private var all = Count()
    private var dollars = 0.0
    private var byVersion: [String: Count] = [:]
    private var byGroup: [String: Count] = [:]
    private var byPart: [String: Int] = [:]

    mutating func add(_ day: FleetDay, reads: Int, screen: ByteString) {
        func count(_ count: inout Count) {
            count.reads += reads
            count.days += 1
        }
        count(&all)
        count(&byVersion[day.version, default: Count()])
        count(&byGroup[day.group, default: Count()])
        if day.reads > 0 { dollars += day.dollars * Double(reads) / Double(day.reads) }
        for row in day.rows where ByteString(row.screen) == screen {
            let label = row.label.isEmpty ? "" : row.label + " "
            byPart[label + row.cause, default: 0] += row.reads
        }
    }

    func screen(
        _ name: String, versions: [String], hasGroups: Bool
    ) -> FleetReport.Screen {
        let part = byPart.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? ""
        let group = byGroup.max {
            ($0.value.readsADay, $1.key) < ($1.value.readsADay, $0.key)
        }
        return FleetReport.Screen(
            name: name, reads: all.reads, dollars: dollars, readsADay: all.readsADay, part: part,
            group: hasGroups
                ? group.map { FleetReport.Group(name: $0.key, readsADay: $0.value.readsADay) }
                : nil,
            rise: rise(versions))
    }

    /// Returns the step from one version to the next at which the reads of a device and day rose
    /// most; nil if they rose at none, or fell again since.
    private func rise(_ versions: [String]) -> FleetReport.Rise? {
        let known = versions.filter { (byVersion[$0]?.days ?? 0) >= FleetReport.leastDays }
        var best: FleetReport.Rise?
        var factor = FleetReport.rise
        for (before, version) in zip(known, known.dropFirst()) {
            guard let old = byVersion[before]?.readsADay, let new = byVersion[version]?.readsADay,
                old > 0, new / old >= factor
            else { continue }
            factor = new / old
            best = FleetReport.Rise(
                version: version, before: before, readsADay: new, readsADayBefore: old)
        }
        guard let best, let last = known.last, let now = byVersion[last]?.readsADay else {
            return nil
        }
        return now >= best.readsADayBefore * FleetReport.rise ? best : nil
    }
}

extension String {
    /// The numbers of a version, in a form that sorts as text.
    fileprivate var parts: String {
        split(separator: ".").map { part in
            String(repeating: "0", count: max(0, 8 - part.count)) + part
        }.joined(separator: ".")
    }
}
