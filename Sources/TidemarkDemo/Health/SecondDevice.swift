import Foundation
import HealthCore
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync
import TidemarkModel

/// Another device of the same user: it receives the history from the server, newest first, into its
/// own health store, and shows it from there.
struct SecondDevice {
    private static let name = "second-device"
    /// The number of days in a page of a download.
    private static let pageSize = 100

    let visit: Visit
    let user: String
    /// The store of the device that imported the data.
    let first: HealthStore
    /// The totals of the generated data.
    let truth: HealthTruth

    /// - Parameter documents: The days on the server. The bill is predicted from them.
    /// - Returns: The hours that the device holds at the end, of all shown kinds.
    func run(_ documents: [HealthDay: Document]) async throws -> [HourEntry] {
        let days = documents.keys
        guard let oldest = days.min(), let newest = days.max() else { return [] }
        let firestore = try await visit.firestore(on: Self.name)
        let folder = try visit.place.on(Self.name).folder
        // This device measures nothing.
        let app = try HealthCore.HealthApp(
            folder: folder.path, source: ScriptedHealthSource(), firestore: firestore, user: user)
        let count = Int(newest.number - oldest.number) + 1
        let job = try HealthDownload(app.days, into: app.store).job(days: count, until: newest)
        let forecast = planned(job, documents)
        visit.predicted(forecast)
        let end = try await receive(app.returning(days: count, until: newest), app.store)
        visit.measured("reads beside the plan", Double(end.reads - forecast.bill.reads))
        try compare(app.store)
        return try HealthApp.kinds.flatMap { try hours($0, app.store) }
    }

    /// Runs the download, and shows the first seven days as soon as they are in the store.
    private func receive(
        _ backfill: Backfill, _ store: HealthStore
    ) async throws -> BackfillProgress {
        let start = ContinuousClock.now
        let states = await backfill.progress
        try await backfill.start()
        var end = BackfillProgress()
        var hasFirst = false
        for await state in states {
            end = state
            if state.hasFirstWindows, !hasFirst {
                hasFirst = true
                try HealthAfter.show(store)
                visit.measured(
                    "another device's first 7 days ms", (ContinuousClock.now - start).milliseconds)
            }
            if state.phase == .complete || state.phase == .failed { break }
        }
        await backfill.stop()
        guard end.phase == .complete else { throw BackfillEnded(failures: end.failures) }
        visit.measured("another device ms", (ContinuousClock.now - start).milliseconds)
        return end
    }

    /// Returns the pages of each window of the download. The first device has read nothing.
    private func planned(_ job: BackfillJob, _ documents: [HealthDay: Document]) -> Forecast {
        var forecast = Forecast()
        for number in 0..<job.windowCount {
            let window = job.window(number)
            let own = documents.filter { day, _ in
                let time = Timestamp(seconds: day.number * 86_400, nanoseconds: 0)
                return (window.lowerBound.time..<window.upperBound.time).contains(time)
            }
            let rows = own.sorted { $1.key < $0.key }.map { WrittenDocuments.row($0.value) }
            // A full page is followed by another one.
            for first in stride(from: 0, through: rows.count, by: Self.pageSize) {
                let page = rows[first..<min(rows.count, first + Self.pageSize)]
                forecast.add("days of window \(number): \(page.count)", .query(page))
            }
        }
        return forecast
    }

    /// Compares the values and the hours with those of the first device, and today's steps with the
    /// generated data.
    private func compare(_ store: HealthStore) throws {
        let values = try HealthSummary.Item.allCases.count { item in
            let value = try summary(item, store)
            guard value.shows(item), try value == summary(item, first) else { return false }
            let today = HealthMoment.last(of: store).day
            return item != .stepsToday || value.stepsToday == truth.totals[.steps]?[today]?.sum
        }
        visit.measured("summary values", Double(values))
        let differing = try HealthKind.allCases.reduce(0) { sum, kind in
            let theirs = try hours(kind, first)
            return sum + (try Set(hours(kind, store)).symmetricDifference(theirs).count)
        }
        visit.measured("hours that differ", Double(differing))
    }

    /// Returns a summary with this value only.
    private func summary(_ item: HealthSummary.Item, _ store: HealthStore) throws -> HealthSummary {
        let moment = HealthMoment.last(of: store)
        return try store.read { snapshot in
            var summary = HealthSummary()
            try snapshot.read([item], of: &summary, at: moment)
            return summary
        }
    }

    private func hours(_ kind: HealthKind, _ store: HealthStore) throws -> [HourEntry] {
        try store.read { snapshot in
            guard let days = try snapshot.days(kind) else { return [] }
            return try snapshot.entries(kind, days: days)
        }
    }
}

extension HealthSummary {
    /// Returns true if there is a value to show.
    fileprivate func shows(_ item: Item) -> Bool {
        switch item {
        case .stepsToday: stepsToday != nil
        case .body: weight != nil
        case .lastWeights: !lastWeights.isEmpty
        case .mood: mood != nil
        case .heartRate: heartRate != nil
        case .heartRateHours: !heartRateHours.isEmpty
        case .stepsHours: !stepsHours.isEmpty
        case .sleep: sleep != nil
        }
    }
}

struct BackfillEnded: Error, CustomStringConvertible {
    let failures: [String: BackfillFailure]
    var description: String { "the backfill ended: \(failures)" }
}
