import Foundation
import TidemarkHealth

/// The fitness app in a separate process, which the demo can kill.
struct HealthApp {
    /// The kinds of data that the app shows.
    static let kinds: [HealthKind] = [.steps, .heartRate, .sleep, .weight, .mood]
    /// The number of days that the app as it was stored before it had a screen.
    static let daysBefore = 90
    /// The file of the store, in the app's folder.
    static let storeFile = "/health.sqlite"

    /// The data on the phone at the first launch.
    enum Phone: Sendable {
        /// A file that the user picks.
        case export(URL)
        /// Samples in HealthKit.
        case kit(days: Int)
    }

    let side: Side
    let data: Phone
    let visit: Visit
    let daysPerPart: Int
    /// A function that receives the first word of each line of the app.
    var onWord: @Sendable (String) -> Void = { _ in }

    /// Returns the days that the app as it was held.
    static func daysHeldBefore(_ snapshot: HealthSnapshot) throws -> ClosedRange<HealthDay>? {
        guard let last = try snapshot.days()?.upperBound else { return nil }
        return HealthDay(number: last.number - Int64(daysBefore) + 1)...last
    }

    /// - Parameter picks: True if the user picks the export; else the app continues without the
    ///   user.
    func runToItsEnd(picks: Bool = true) async throws {
        let app = process(picks: picks)
        for await words in try app.start() { hear(words) }
        guard app.endedWell else { throw HealthAppError() }
    }

    /// - Parameters:
    ///   - word: The word in the app's output at which it is killed.
    ///   - times: The number of the word's occurrence at which the app is killed.
    ///   - picks: True if the user picks the export.
    /// - Returns: True if the app was killed.
    func run(killedAt word: String, times: Int, picks: Bool) async throws -> Bool {
        let app = process(picks: picks)
        var said = 0
        for await words in try app.start() {
            hear(words)
            guard words.first == word else { continue }
            said += 1
            if said == times { app.kill() }
        }
        return !app.endedWell
    }

    private func process(picks: Bool) -> AppProcess {
        let own = [
            "demo", "health-app", "--side", side.rawValue, "--days-per-part", "\(daysPerPart)",
        ]
        let source: [String] =
            switch data {
            case .export(let file): picks ? ["--export", file.path] : []
            case .kit(let days): ["--kit", "\(days)"]
            }
        return AppProcess(own + source + PlaceOptions.arguments(visit))
    }

    private func hear(_ words: [String]) {
        if let word = words.first { onWord(word) }
        if words == ["shown"] { return visit.sawContent() }
        if words == ["sent"] { return visit.isUpToDate() }
        guard words.first == "figure", let figure = words.last.flatMap(Double.init) else { return }
        visit.measured(words.dropFirst().dropLast().joined(separator: " "), figure)
    }
}

private struct HealthAppError: Error, CustomStringConvertible {
    var description: String { "the app ended with an error" }
}
