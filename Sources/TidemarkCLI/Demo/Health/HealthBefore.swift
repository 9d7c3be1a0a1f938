import Foundation
import Tidemark
import TidemarkHealth

/// The app as it was: everything goes to the server an hour a document before there is a screen,
/// which then asks the server eight questions, twice.
struct HealthBefore {
    private let firestore: Firestore
    private let store: HealthStore
    private let hours: CollectionReference
    private static let batchSize = 500

    init(_ firestore: Firestore, _ store: HealthStore, _ collection: String) {
        self.firestore = firestore
        self.store = store
        hours = firestore.collection(collection)
    }

    func run(_ export: String) async throws {
        // The hours are a gift: HealthKit would have given them to the app.
        _ = try await HealthImport(into: store).run(export)
        let entries = try store.read { snapshot -> [HourEntry] in
            guard let last = try snapshot.days()?.upperBound else { return [] }
            let first = HealthDay(number: last.number - Int64(HealthApp.daysBefore) + 1)
            let days = first...last
            return try HealthApp.kinds.flatMap { try snapshot.entries($0, days: days) }
        }
        for start in stride(from: 0, to: entries.count, by: Self.batchSize) {
            let batch = firestore.batch()
            for entry in entries[start..<min(start + Self.batchSize, entries.count)] {
                batch.setData(
                    [
                        "kind": entry.kind.name, "start": entry.start,
                        "sum": entry.sumMillionths, "value": entry.value,
                    ], forDocument: hours.document("\(entry.kind.name)-\(entry.start)"))
            }
            // A write that was lost is sent again by the queue.
            try await batch.commit()
        }
        let last = entries.map(\.start).max() ?? 0
        for _ in 0..<2 { try await ask(before: last) }
        say("shown")
    }

    /// Steps total, weight and height, last 5 weights, latest mood, latest heart rate, last 8 hours
    /// of heart rate, last 8 hours of steps, latest sleep: those of the kinds that were sent.
    private func ask(before last: Int64) async throws {
        func newest(_ kind: HealthKind, _ count: Int) -> Query {
            hours.whereField("kind", isEqualTo: kind.name).order(by: "start", descending: true)
                .limit(to: count)
        }
        let today = hours.whereField("kind", isEqualTo: HealthKind.steps.name)
            .whereField("start", isGreaterThan: last - 86_400)
        let questions = [
            today, newest(.weight, 1), newest(.weight, 5), newest(.mood, 1),
            newest(.heartRate, 1), newest(.heartRate, 8), newest(.steps, 8), newest(.sleep, 8),
        ]
        for question in questions { _ = try await patiently(question) }
    }

    /// Asks until there is an answer, as a person taps "try again".
    private func patiently(_ query: Query) async throws -> QuerySnapshot {
        for _ in 0..<20 {
            if let snapshot = try? await query.getDocuments(source: .server) { return snapshot }
            try await Task.sleep(for: .milliseconds(500))
        }
        return try await query.getDocuments(source: .server)
    }
}
