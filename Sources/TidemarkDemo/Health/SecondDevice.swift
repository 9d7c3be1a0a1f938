import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync

/// Another device of the same person, which has the history from the server: newest first, into its
/// cache, and shows it from there.
struct SecondDevice {
    private static let dayField = "day"

    let visit: Visit
    let collection: String

    /// - Parameter days: Those that there are: what the plan is made of.
    /// - Returns: All hours, as the device holds them in the end.
    func run(_ days: Set<HealthDay>) async throws -> [HourEntry] {
        guard let first = days.min(), let last = days.max() else { return [] }
        let firestore = try visit.firestore(on: "second-device")
        let query = firestore.collection(collection)
        let history = try QueryHistory(query, itemTime: Self.dayField, name: "health")
        let job = BackfillJob(
            name: "health", from: Self.time(first.number), to: Self.time(last.number + 1))
        let start = ContinuousClock.now
        let backfill = Backfill([.init(job, from: history, to: history)])
        let states = await backfill.progress
        try await backfill.start()
        var end = BackfillProgress()
        var hasFirst = false
        for await state in states {
            end = state
            if state.hasFirstWindows, !hasFirst {
                hasFirst = true
                let week = try await hours(query, since: last.number - 6)
                guard !week.isEmpty else { throw BackfillEnded(failures: state.failures) }
                visit.measured(
                    "another device's first 7 days ms", (ContinuousClock.now - start).milliseconds)
            }
            if state.phase == .complete || state.phase == .failed { break }
        }
        await backfill.stop()
        guard end.phase == .complete else { throw BackfillEnded(failures: end.failures) }
        visit.measured("another device ms", (ContinuousClock.now - start).milliseconds)
        visit.measured("reads beside the plan", Double(end.reads - planned(job, days)))
        return try await hours(query, since: first.number)
    }

    /// A read a day, and one for a window without any.
    private func planned(_ job: BackfillJob, _ days: Set<HealthDay>) -> Int {
        (0..<job.windowCount).reduce(0) { sum, number in
            let window = job.window(number)
            let own = days.count { day in
                (window.lowerBound.time..<window.upperBound.time).contains(Self.time(day.number))
            }
            return sum + max(1, own)
        }
    }

    /// From the cache.
    private func hours(_ query: CollectionReference, since day: Int64) async throws -> [HourEntry] {
        let found = try await query.whereField(
            Self.dayField, isGreaterThanOrEqualTo: Self.time(day)
        ).getDocuments(source: .cache)
        return found.documents.flatMap { document in
            document.fields.flatMap {
                HealthDayRecord(documentID: document.documentID, fields: $0)?.hours
            } ?? []
        }
    }

    private static func time(_ day: Int64) -> Timestamp {
        Timestamp(seconds: day * 86_400, nanoseconds: 0)
    }
}

struct BackfillEnded: Error, CustomStringConvertible {
    let failures: [String: BackfillFailure]
    var description: String { "the backfill ended: \(failures)" }
}
