import Foundation
public import Observation
import Tidemark
public import TidemarkApp
public import TidemarkHealth

/// The summary screen: eight values from one snapshot, the last seven days, and how far the work behind
/// the screen is.
@MainActor @Observable
public final class HealthModel {
    /// What is going on behind what is shown.
    public enum Work: Hashable, Sendable {
        /// The newest seven days are being read.
        case firstDays
        /// They are there; the older ones come.
        case older
        /// All is there, and what is measured comes by itself.
        case upToDate
        /// Why it stopped, in a sentence; ``HealthModel/tryAgain()`` is the way out.
        case failed(String)
    }

    public struct Day: Hashable, Sendable, Identifiable {
        public let day: HealthDay
        public let steps: Double
        public var id: String { "\(day)" }
    }

    public let summary: HealthSummaryModel
    /// The last seven days, newest first, by the same hours as everything else.
    public private(set) var week: [Day] = []
    public private(set) var work = Work.firstDays
    /// How far the days are sent; nil before anything is.
    public private(set) var sending: BackfillProgress?
    /// How far the days of other devices are fetched; nil where there is nothing to fetch.
    public private(set) var returning: BackfillProgress?

    @ObservationIgnored private let app: HealthApp
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []
    @ObservationIgnored private var backfills: [Backfill] = []

    /// Shows what the store holds, and begins to bring it up to date; ends with ``close()``.
    public init(_ app: HealthApp) {
        self.app = app
        summary = HealthSummaryModel(app.store, moment: { app.moment }, clock: app.clock)
        readWeek()
        begin()
    }

    deinit { for task in tasks { task.cancel() } }

    /// The way out of ``Work/failed(_:)``: goes on behind the last page that was stored.
    public func tryAgain() {
        for task in tasks { task.cancel() }
        begin()
    }

    /// Ends it. What was stored and sent stays.
    public func close() async {
        for task in tasks { task.cancel() }
        for backfill in backfills { await backfill.stop() }
    }

    /// To be called when the system says that there is a network, or none.
    public func setOnline(_ isOnline: Bool) async {
        if isOnline { app.firestore.networkMayBeBack() }
        for backfill in backfills { await backfill.setOnline(isOnline) }
    }

    private func begin() {
        work = .firstDays
        let changes = app.store.changes(clock: app.clock)
        tasks = [
            Task { [weak self] in
                for await _ in changes { self?.readWeek() }
            },
            Task { [weak self, app] in await self?.takeIn(app.intake()) },
        ]
    }

    private func takeIn(_ intake: HealthIntake) async {
        do {
            let isNew = try app.store.read { try $0.days() } == nil
            try await intake.firstDays(until: app.now())
            work = .older
            try await intake.catchUp()
            work = .upToDate
            tasks.append(
                Task { [weak self] in
                    if isNew { await self?.fetchDays() }
                    await self?.sendDays()
                })
            try await intake.follow()
        } catch let error as HealthIntakeError {
            work = .failed(error.message)
        } catch is CancellationError {
        } catch { work = .failed("Something went wrong in the app.") }
    }

    /// What other devices have sent: once, for a device that holds nothing.
    private func fetchDays() async {
        if let backfill = try? app.returning() { await run(backfill) { $0.returning = $1 } }
    }

    /// Sends all days, and later those that have changed.
    private func sendDays() async {
        let changes = app.store.changes(every: .seconds(10), clock: app.clock)
        if let backfill = try? app.sending() { await run(backfill) { $0.sending = $1 } }
        for await _ in changes {
            if let backfill = try? app.sending() { await run(backfill) { $0.sending = $1 } }
        }
    }

    private func run(
        _ backfill: Backfill, _ show: (HealthModel, BackfillProgress) -> Void
    ) async {
        backfills.append(backfill)
        try? await backfill.start()
        for await progress in await backfill.progress {
            show(self, progress)
            if progress.phase == .complete || progress.phase == .failed { break }
        }
        await backfill.stop()
        backfills.removeAll { $0 === backfill }
    }

    private func readWeek() {
        let last = app.moment.day
        let first = HealthDay(number: last.number - 6)
        let totals = try? app.store.read { try $0.totals(.steps, days: first...last) }
        week = (totals ?? []).reversed().map { Day(day: $0.day, steps: $0.sum) }
    }
}
