import Foundation
import HealthCore
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync

/// Another device of the same user: it receives the history from the server, newest first, into its
/// own health store, and shows it from there.
struct SecondDevice {
    private static let name = "second-device"

    let visit: Visit
    let user: String
    /// The store of the device that imported the data.
    let first: HealthStore
    /// The totals of the generated data.
    let truth: HealthTruth

    /// - Parameter days: The days on the server. The planned reads are computed from them.
    /// - Returns: The hours that the device holds at the end, of all shown kinds.
    func run(_ days: Set<HealthDay>) async throws -> [HourEntry] {
        guard let oldest = days.min(), let newest = days.max() else { return [] }
        let firestore = try await visit.firestore(on: Self.name)
        let folder = try visit.place.on(Self.name).folder
        // This device measures nothing.
        let app = try HealthCore.HealthApp(
            folder: folder.path, source: ScriptedHealthSource(), firestore: firestore, user: user)
        let count = Int(newest.number - oldest.number) + 1
        let end = try await receive(app.returning(days: count, until: newest), app.store)
        let job = try HealthDownload(app.days, into: app.store).job(days: count, until: newest)
        visit.measured("reads beside the plan", Double(end.reads - planned(job, days)))
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

    /// Returns one read for each day, and one for each window without days.
    private func planned(_ job: BackfillJob, _ days: Set<HealthDay>) -> Int {
        (0..<job.windowCount).reduce(0) { sum, number in
            let window = job.window(number)
            let own = days.count { day in
                let time = Timestamp(seconds: day.number * 86_400, nanoseconds: 0)
                return (window.lowerBound.time..<window.upperBound.time).contains(time)
            }
            return sum + max(1, own)
        }
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
