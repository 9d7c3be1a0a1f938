import Foundation
import HealthCore
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync

/// Another device of the same person: the history comes from the server, newest first, into a health
/// store of its own, and is shown from there.
struct SecondDevice {
    private static let name = "second-device"

    let visit: Visit
    let user: String
    /// Where it was measured.
    let first: HealthStore
    /// What was lived.
    let truth: HealthTruth

    /// - Parameter days: Those that there are: what the plan is made of.
    /// - Returns: All hours, as the device holds them in the end.
    func run(_ days: Set<HealthDay>) async throws -> [HourEntry] {
        guard let oldest = days.min(), let newest = days.max() else { return [] }
        let firestore = try await visit.firestore(on: Self.name)
        let folder = try visit.place.on(Self.name).folder
        // Nothing is measured on it.
        let app = try HealthCore.HealthApp(
            folder: folder.path, source: ScriptedHealthSource(), firestore: firestore, user: user)
        let count = Int(newest.number - oldest.number) + 1
        let end = try await receive(app.returning(days: count, until: newest), app.store)
        let job = try HealthDownload(app.days, into: app.store).job(days: count, until: newest)
        visit.measured("reads beside the plan", Double(end.reads - planned(job, days)))
        try compare(app.store)
        return try HealthApp.kinds.flatMap { try hours($0, app.store) }
    }

    /// Shows the first seven days as soon as they are in the store.
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

    /// A read a day, and one for a window without any.
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

    /// With the device where it was measured, and its steps with what was lived.
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

    /// That value alone.
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
    /// Whether there is something to be shown of it.
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
