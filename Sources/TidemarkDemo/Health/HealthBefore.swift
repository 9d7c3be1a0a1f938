import Foundation
import TidemarkHealth

/// The app as it was: it stores all hours on the device in one import, and the screen's reads wait
/// for its end. It uploads nothing.
struct HealthBefore {
    private let store: HealthStore

    init(_ store: HealthStore) { self.store = store }

    func run(_ export: String) async throws {
        let start = ContinuousClock.now
        // The import of hours favours this app: HealthKit would have returned single samples, which
        // take longer to store.
        _ = try await HealthImport(into: store).run(export)
        try show(since: start)
    }

    /// Reads 90 days of HealthKit, kind after kind, before the first screen.
    func run(_ kit: ScriptedKit) async throws {
        let start = ContinuousClock.now
        let range = kit.now.addingTimeInterval(-86_400 * Double(HealthApp.daysBefore))..<kit.now
        for kind in HealthApp.kinds {
            let samples = try await kit.source.samples(kind, in: range, limit: .max)
            _ = try await store.insert(samples)
        }
        try show(since: start)
    }

    private func show(since start: ContinuousClock.Instant) throws {
        let stored = ContinuousClock.now
        // The app reads when the waiting summary appears, and again because the sync has ended.
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

    /// Reads the values of the summary: total steps, weight and height, the last 5 weights, the
    /// latest mood, the latest heart rate, the last 8 hours of heart rate and of steps, and the
    /// latest sleep. Each query reads all hours of its kind that the app holds, and uses the last
    /// ones.
    ///
    /// - Returns: The number of rows that were read.
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
    var description: String { "There is nothing to show for \(kind)." }
}
