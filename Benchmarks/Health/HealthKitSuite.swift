import Foundation
import TidemarkHealth

/// Measures how HealthKit's samples come into the store: the newest seven days until the screen has
/// their chart, and then all pages. Plain SQLite writes the same rows in the same run.
struct HealthKitSuite {
    /// The number of heart rate readings. The default is ten years of a watch.
    let count: Int
    let folder: URL
    let report: Report

    static let decade = 3_650 * ScriptedKit.pulsesADay
    private static let pageSize = 1_000
    private static let kind = HealthKind.heartRate
    private static let rounds = 3
    private static let week = 7

    /// The times of a round, in microseconds.
    private struct Times {
        let firstDays: Double
        let pages: Double
    }

    /// - Returns: True if the bar holds.
    func run() async throws -> Bool {
        let kit = ScriptedKit(
            days: max(Self.week + 1, count / ScriptedKit.pulsesADay), kinds: [Self.kind])
        var (ours, plain): ([Times], [Times]) = ([], [])
        var pages = 0
        for round in 0..<Self.rounds {
            let path = folder.appending(path: "health-\(round).sqlite").path
            let timed = TimedKit(kit.source)
            ours.append(try await measure(kit, timed, into: path))
            pages = timed.anchors.count
            let rows = PlainHealthRows(
                of: path, firstDaysFrom: firstSecond(kit), pageSize: Self.pageSize,
                anchors: timed.anchors.map { [UInt8]($0.data) })
            plain.append(measure(rows, path: path + "-plain", like: path, kit))
        }
        report.begin(
            "healthkit", "\(pages) pages of \(Self.pageSize) heart rates", yardstick: "plain SQLite"
        )
        let first = ours.map(\.firstDays).median
        report.add(
            "the newest 7 days, until their chart is read", first,
            against: plain.map(\.firstDays).median)
        let all = ours.map(\.pages).median
        report.add(
            "all pages, per page", all / Double(pages),
            against: plain.map(\.pages).median / Double(pages), atMost: HealthKitRatio.page,
            items: Self.pageSize, more: ["seconds": all / 1e6, "pages": Double(pages)])
        report.add(
            .firstDays, first / 1e3,
            detail: "the slowest of \(ours.count) rounds "
                + String(format: "%.1f ms", (ours.map(\.firstDays).max() ?? 0) / 1e3))
        return Bar.firstDays.holds(first / 1e3)
    }

    private func firstSecond(_ kit: ScriptedKit) -> Int64 {
        Int64(kit.now.timeIntervalSince1970) - Int64(Self.week) * 86_400
    }

    /// Measures the intake of an app, without the time in which HealthKit answers.
    private func measure(
        _ kit: ScriptedKit, _ timed: TimedKit, into path: String
    ) async throws -> Times {
        let store = try HealthStore(path: path)
        let intake = HealthIntake(
            from: timed, into: store, kinds: [Self.kind], pageSize: Self.pageSize)
        let first = try await time {
            try await intake.firstDays(Self.week, until: kit.now)
            let bars = try store.read { snapshot in
                try HealthChart.week(Self.kind, to: kit.lastDay, in: snapshot).bars
            }
            precondition(bars.allSatisfy { $0.value != nil }, "a day has no value")
        }
        let answered = timed.time
        let all = try await time { try await intake.catchUp() }
        return Times(
            firstDays: first - answered / .microseconds(1),
            pages: all - (timed.time - answered) / .microseconds(1))
    }

    /// Measures plain SQLite, and compares what it wrote with our file.
    private func measure(
        _ rows: PlainHealthRows, path: String, like ours: String, _ kit: ScriptedKit
    ) -> Times {
        let plain = PlainHealth(path, like: ours)
        let first = time {
            plain.write(rows.firstDays)
            let days = plain.week(Int64(Self.kind.rawValue), to: kit.lastDay.number)
            precondition(days == Self.week, "\(days) days have a value")
        }
        let all = time { for page in rows.pages { plain.write(page) } }
        plain.requireSameRows()
        return Times(firstDays: first, pages: all)
    }
}
