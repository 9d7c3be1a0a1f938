import ArgumentParser
import Foundation
import HealthCore
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync

/// The app on Tidemark without its screen: the user picks an export, and the days are sent to the
/// server. The screen's reads of the store run repeatedly at the same time, and are timed.
@MainActor
struct HealthAfter {
    /// The number of reads of the summary while nothing else runs.
    static let idleReads = 1_000

    private let app: HealthCore.HealthApp
    private let spent = Spent()
    private let beside = SummaryReads()

    init(_ place: DemoPlace, _ firestore: Firestore, daysPerPart: Int) throws {
        // The device measures nothing, so the export is the only source of data.
        var app = try HealthCore.HealthApp(
            folder: place.folder.path, source: ScriptedHealthSource(), firestore: firestore,
            user: place.user)
        app.now = { [store = app.store] in
            Date(timeIntervalSince1970: Double(HealthMoment.last(of: store).seconds))
        }
        app.daysPerPart = daysPerPart
        app.reading = { [spent] in TimedHistory(history: $0, spent: spent) }
        self.app = app
    }

    /// - Parameter export: The file that the user picks; nil for an app that continues after a
    ///   kill.
    func run(_ export: URL?) async throws {
        let start = ContinuousClock.now
        let model = HealthModel(app)
        if let export { await model.bringIn(export) }
        // An app that was killed while it sent has already imported the export.
        let brings = model.export != .idle
        let screen = Task {
            try await showFirstDays(model)
            if brings {
                say("figure first 7 days ms \((ContinuousClock.now - start).milliseconds)")
            }
        }
        let reading = Task { [store = app.store] in
            try await screen.value
            try await beside.run(store)
        }
        defer {
            screen.cancel()
            reading.cancel()
        }
        let importing = try await untilImported(model, since: start)
        try await screen.value
        try await HealthScreen.untilSent(model)
        reading.cancel()
        say("sent")
        if brings { say("figure local ms \((importing + spent.total).milliseconds)") }
        try await HealthScreen.untilFresh(model.summary)
        say("figure refreshes \(model.summary.refreshes)")
        // There is one refresh when the screen opens, one for each half second with a change, and
        // one in progress.
        let halves = Int((ContinuousClock.now - start) / .milliseconds(500))
        say(
            "figure refreshes beyond one each half second "
                + "\(max(0, model.summary.refreshes - halves - 2))")
        await model.close()
        let idle = SummaryReads()
        try await idle.run(app.store, count: Self.idleReads)
        HealthScreen.notify(beside, idle)
    }

    /// Shows seven days on the screen as soon as they are in the store, during the import or at its
    /// end.
    private func showFirstDays(_ model: HealthModel) async throws {
        try await untilShown {
            guard case .importing(let step) = model.export else { return true }
            return step?.firstDays == .stored
        }
        try Self.show(app.store)
        say("shown")
    }

    /// - Returns: The duration of the import.
    private func untilImported(
        _ model: HealthModel, since start: ContinuousClock.Instant
    ) async throws -> Duration {
        var isOpen = false
        try await untilShown {
            guard case .importing(let step) = model.export else { return true }
            if step != nil, !isOpen {
                isOpen = true
                say("importing")
            }
            return false
        }
        if case .failed(let reason) = model.export { throw ValidationError(reason) }
        return .now - start
    }

    /// Reads seven days as the screen does.
    ///
    /// - Throws: An error if there is nothing to show.
    nonisolated static func show(_ store: HealthStore) throws {
        let bars = try store.read { snapshot in
            guard let last = try snapshot.days()?.upperBound else { return 0 }
            let charts = try HealthApp.kinds.map {
                try HealthChart.week($0, to: last, in: snapshot)
            }
            return charts.flatMap(\.bars).count { $0.value != nil }
        }
        guard bars > 0 else { throw ValidationError("There is nothing to show.") }
    }
}

/// The time for which the device itself has worked.
private final class Spent: Sendable {
    private let time = Mutex(Duration.zero)
    var total: Duration { time.withLock { $0 } }
    func add(_ duration: Duration) { time.withLock { $0 += duration } }
}

/// Reads the days of a history, and measures the time.
private struct TimedHistory: BackfillSource {
    let history: HealthHistory
    let spent: Spent

    func fetch(
        _ range: Range<CoveragePosition>
    ) async throws(BackfillFailure) -> BackfillPart<[HealthDayRecord]> {
        let start = ContinuousClock.now
        defer { spent.add(ContinuousClock.now - start) }
        return try await history.fetch(range)
    }
}

extension HealthMoment {
    /// Returns the time of the last steps in the store.
    static func last(of store: HealthStore) -> HealthMoment {
        let last = try? store.read { try $0.latest(.steps, limit: 1).first }
        return HealthMoment(seconds: last?.lastTime ?? 0, offset: last?.offset ?? 0)
    }
}
