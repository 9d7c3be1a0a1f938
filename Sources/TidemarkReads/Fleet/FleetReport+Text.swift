package import Foundation

extension FleetReport {
    /// The maximum number of screens in a text.
    private static let maxShown = 20

    /// The report for a terminal, with a newline at its end.
    package var text: String {
        guard let first, let last else {
            return "tidemark reads: there are no days of devices.\n"
        }
        let asked = reads + cached
        let share = asked == 0 ? 0 : cached * 100 / asked
        var parts = [
            """
            tidemark reads: \(deviceDays) days of devices, \(first) to \(last): \(reads) reads, \
            $\(Self.money(dollars)); caches answered \(share) %.
            """
        ]
        parts += screens.prefix(Self.maxShown).map(line)
        if screens.count > Self.maxShown {
            parts.append("\(screens.count - Self.maxShown) cheaper screens.")
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private func line(_ screen: Screen) -> String {
        let share = reads == 0 ? 0 : screen.reads * 100 / reads
        let name = screen.name.isEmpty ? "(no screen)" : screen.name.oneLine
        var lines = [
            "\(name): \(screen.reads) reads, \(share) %, $\(Self.money(screen.dollars))",
            "    \(Self.figure(screen.readsADay)) reads a device and day, most by "
                + screen.part.oneLine,
        ]
        if let group = screen.group {
            let groupName = group.name.isEmpty ? "(no group)" : group.name.oneLine
            lines.append("    most for \(groupName): \(Self.figure(group.readsADay))")
        }
        if let rise = screen.rise {
            lines.append(
                "    since version \(rise.version.oneLine): \(Self.figure(rise.readsADay)), before "
                    + "\(Self.figure(rise.readsADayBefore)) with \(rise.before.oneLine)")
        }
        return lines.joined(separator: "\n")
    }

    private static func figure(_ value: Double) -> String {
        let tenths = (value * 10).rounded()
        let isWhole = value >= 10 || tenths.truncatingRemainder(dividingBy: 10) == 0
        return isWhole ? String(Int(value.rounded())) : String(tenths / 10)
    }

    private static func money(_ dollars: Double) -> String {
        String(format: dollars >= 1 ? "%.2f" : "%.5f", dollars)
    }

    /// The report as JSON with sorted names. It has all screens.
    package var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // JSON can represent all texts and numbers.
        return ((try? encoder.encode(FleetOutput(self))) ?? Data()) + Data("\n".utf8)
    }
}

private struct FleetOutput: Encodable {
    var format = 1
    let deviceDays, reads, cached: Int
    let first, last: String?
    let dollars: Double
    let screens: [Screen]

    init(_ report: FleetReport) {
        (deviceDays, reads, cached) = (report.deviceDays, report.reads, report.cached)
        (first, last, dollars) = (report.first, report.last, report.dollars)
        screens = report.screens.map(Screen.init)
    }

    struct Screen: Encodable {
        let name, part: String
        let reads: Int
        let dollars, readsADay: Double
        let group: String?
        let sinceVersion, versionBefore: String?
        let readsADaySince, readsADayBefore: Double?

        init(_ screen: FleetReport.Screen) {
            (name, part, reads) = (screen.name, screen.part, screen.reads)
            (dollars, readsADay) = (screen.dollars, screen.readsADay)
            group = screen.group?.name
            sinceVersion = screen.rise?.version
            versionBefore = screen.rise?.before
            readsADaySince = screen.rise?.readsADay
            readsADayBefore = screen.rise?.readsADayBefore
        }
    }
}
