import Foundation
import TidemarkHealth

/// The app as it was: all hours are stored on the device in one go, with the screen's own questions
/// waiting behind it. Nothing is uploaded.
struct HealthBefore {
    private let store: HealthStore

    init(_ store: HealthStore) { self.store = store }

    func run(_ export: String) async throws {
        let start = ContinuousClock.now
        // The hours are a gift, and stored faster than they were: HealthKit would have given samples.
        _ = try await HealthImport(into: store).run(export)
        let stored = ContinuousClock.now
        // When the summary appears, which has waited, and again because the sync has ended.
        var rows = 0
        for number in 0..<2 {
            rows += try ask()
            if number == 0 { say("shown") }
        }
        let asked = ContinuousClock.now - stored
        say("figure summary ms \((asked / 2).milliseconds)")
        say("figure summary rows \(rows / 2)")
        say("figure local ms \((ContinuousClock.now - start).milliseconds)")
    }

    /// Steps total, weight and height, last 5 weights, latest mood, latest heart rate, last 8 hours of
    /// heart rate, last 8 hours of steps, latest sleep: those of the kinds that there are. Each reads
    /// all hours of its kind that the app holds, and takes of them what it shows.
    ///
    /// - Returns: The rows that were read.
    private func ask() throws -> Int {
        let questions: [(HealthKind, shown: Int)] = [
            (.steps, 24), (.weight, 1), (.weight, 5), (.mood, 1), (.heartRate, 1), (.heartRate, 8),
            (.steps, 8), (.sleep, 8),
        ]
        return try questions.reduce(0) { rows, question in
            let all = try store.read { snapshot -> [HourEntry] in
                guard let days = try HealthApp.daysHeldBefore(snapshot) else { return [] }
                return try snapshot.entries(question.0, days: days)
            }
            let shown = all.sorted { $0.start < $1.start }.suffix(question.shown)
            guard !shown.isEmpty else { throw NothingToShow(kind: question.0.name) }
            return rows + all.count
        }
    }
}

private struct NothingToShow: Error, CustomStringConvertible {
    let kind: String
    var description: String { "There is nothing of \(kind) to be shown." }
}
