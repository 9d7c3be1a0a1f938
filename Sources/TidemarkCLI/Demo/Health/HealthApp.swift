import Foundation
import TidemarkHealth

/// The fitness app, in a process of its own, so that it can be killed.
struct HealthApp {
    /// What the app shows.
    static let kinds: [HealthKind] = [.steps, .heartRate, .sleep, .weight, .mood]
    /// How much the app as it was sent before it had a screen.
    static let daysBefore = 90
    /// Where the phone is when it adds up days: in Berlin, in summer.
    private static let phoneOffset = 120

    let side: Side
    let export: URL
    let collection: String
    let visit: Visit
    let daysPerPart: Int

    /// The app as it was adds up days where the phone is now.
    static func dayBefore(_ hour: HourEntry) -> HealthDay {
        HealthDay(seconds: hour.start, offset: phoneOffset)
    }

    /// - Parameters:
    ///   - word: Killed when it has said this; nil for never.
    ///   - times: How often.
    /// - Returns: Whether it was killed.
    func run(killedAt word: String? = nil, times: Int = 1) async throws -> Bool {
        let app = AppProcess([
            "demo", "health-app", "--side", side.rawValue, "--export", export.path,
            "--collection", collection, "--port", "\(visit.place.port)", "--label", visit.label,
            "--folder", visit.place.folder.path, "--days-per-part", "\(daysPerPart)",
        ])
        var said = 0
        var isKilled = false
        for await words in try app.start() {
            hear(words)
            if let word, words.first == word { said += 1 }
            if word != nil, said == times, !isKilled {
                app.kill()
                isKilled = true
            }
        }
        if isKilled { return !app.endedWell }
        guard app.endedWell else { throw HealthAppError() }
        return false
    }

    private func hear(_ words: [String]) {
        if words == ["shown"] { return visit.sawContent() }
        guard words.first == "figure", let figure = words.last.flatMap(Double.init) else { return }
        visit.measured(words.dropFirst().dropLast().joined(separator: " "), figure)
    }
}

private struct HealthAppError: Error, CustomStringConvertible {
    var description: String { "the app ended with an error" }
}
