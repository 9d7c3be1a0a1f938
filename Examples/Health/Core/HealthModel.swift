public import Foundation
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

    /// An export that the person brings in.
    public enum Export: Hashable, Sendable {
        case idle
        /// How far it is; nil before the file is opened.
        case importing(HealthImport.Progress?)
        /// It is on this device; ``HealthModel/sending`` says how far its days are.
        case sending
        case done
        /// Why it stopped, in a sentence. ``HealthModel/tryAgain()`` goes on with what may still succeed,
        /// and another file may be picked.
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
    public private(set) var export = Export.idle
    /// How far the days are sent; nil before anything is.
    public private(set) var sending: BackfillProgress?
    /// How far the days of other devices are fetched; nil where there is nothing to fetch.
    public private(set) var returning: BackfillProgress?

    @ObservationIgnored private let app: HealthApp
    /// Draws the week anew.
    @ObservationIgnored private var watching: Task<Void, Never>?
    @ObservationIgnored private var intake: Task<Void, Never>?
    @ObservationIgnored private var sender: Task<Void, Never>?
    @ObservationIgnored private var importing: Task<Void, Never>?
    @ObservationIgnored private var backfills: [Backfill] = []
    @ObservationIgnored private var isClosed = false

    /// Shows what the store holds, and begins to bring it up to date; ends with ``close()``. An export that
    /// was under way when the app was killed goes on first.
    public init(_ app: HealthApp) {
        self.app = app
        summary = HealthSummaryModel(app.store, moment: { app.moment }, clock: app.clock)
        readWeek()
        let changes = app.store.changes(clock: app.clock)
        watching = Task { [weak self] in
            for await _ in changes { self?.readWeek() }
        }
        if app.picked.file == nil { begin() } else { beginImport() }
    }

    deinit { for task in [watching, intake, sender, importing] { task?.cancel() } }

    /// The way out of ``Work/failed(_:)`` and ``Export/failed(_:)``: goes on behind what was stored.
    public func tryAgain() {
        if isImporting { return }
        rest()
        if case .failed = export { export = .idle }
        if app.picked.file == nil { begin() } else { beginImport() }
    }

    /// Ends it. What was stored and sent stays, and an export goes on with the next model.
    public func close() async {
        isClosed = true
        watching?.cancel()
        rest()
        importing?.cancel()
        for backfill in backfills { await backfill.stop() }
        await importing?.value
    }

    /// To be called when the system says that there is a network, or none.
    public func setOnline(_ isOnline: Bool) async {
        if isOnline { app.firestore.networkMayBeBack() }
        for backfill in backfills { await backfill.setOnline(isOnline) }
    }

    private func begin() {
        work = .firstDays
        sender = nil
        intake = Task { [weak self, app] in await self?.takeIn(app.intake()) }
        // Its days do not wait for what is measured.
        if export == .sending { beginSending() }
    }

    /// Nothing is taken in and nothing sent from here on.
    private func rest() {
        for task in [intake, sender] { task?.cancel() }
    }

    private func takeIn(_ intake: HealthIntake) async {
        do {
            let isNew = try app.store.read { try $0.days() } == nil
            try await intake.firstDays(until: app.now())
            work = .older
            try await intake.catchUp()
            try Task.checkCancellation()
            work = .upToDate
            beginSending(fetchingFirst: isNew)
            try await intake.follow()
        } catch let error as HealthIntakeError {
            work = .failed(error.message)
        } catch is CancellationError {
        } catch { work = .failed("Something went wrong in the app.") }
    }

    private func beginSending(fetchingFirst: Bool = false) {
        if sender != nil { return }
        sender = Task { [weak self] in
            if fetchingFirst { await self?.fetchDays() }
            await self?.sendDays()
        }
    }

    /// What other devices have sent: once, for a device that holds nothing.
    private func fetchDays() async {
        if let backfill = try? app.returning() { await run(backfill) { $0.returning = $1 } }
    }

    /// Sends all days, and later those that have changed.
    private func sendDays() async {
        let changes = app.store.changes(every: .seconds(10), clock: app.clock)
        await sendDaysOnce()
        for await _ in changes { await sendDaysOnce() }
    }

    private func sendDaysOnce() async {
        var isDone = false
        do {
            if let backfill = try app.sending() {
                isDone = await run(backfill) { $0.sending = $1 }
            } else {
                isDone = true
            }
        } catch {}
        guard export == .sending, !Task.isCancelled else { return }
        export = isDone ? .done : .failed("The days of the export could not be sent.")
    }

    /// - Returns: Whether all of it is done.
    @discardableResult
    private func run(
        _ backfill: Backfill, _ show: (HealthModel, BackfillProgress) -> Void
    ) async -> Bool {
        backfills.append(backfill)
        defer { backfills.removeAll { $0 === backfill } }
        do throws(BackfillFailure) { try await backfill.start() } catch { return false }
        var isDone = false
        for await progress in await backfill.progress {
            show(self, progress)
            isDone = progress.phase == .complete
            if isDone || progress.phase == .failed { break }
        }
        await backfill.stop()
        return isDone
    }

    private func readWeek() {
        let last = app.moment.day
        let first = HealthDay(number: last.number - 6)
        let totals = try? app.store.read { try $0.totals(.steps, days: first...last) }
        week = (totals ?? []).reversed().map { Day(day: $0.day, steps: $0.sum) }
    }

    // MARK: An export

    private var isImporting: Bool {
        if case .importing = export { true } else { false }
    }

    /// Brings in an export that was picked: the `export.zip` of the Health app, or the `export.xml` in it.
    ///
    /// Returns when the app holds the file; ``export`` says how far it is. Until it is in the store nothing
    /// else is taken in or sent, so that each day is sent once. Killed, the app goes on with it at its next
    /// launch.
    public func bringIn(_ file: URL) async {
        if isImporting { return }
        rest()
        let keeping = Task { [app] in try await app.picked.keep(file) }
        beginImport(after: keeping)
        _ = await keeping.result
    }

    /// Stops an import. What was stored stays.
    public func cancelImport() async {
        importing?.cancel()
        await importing?.value
    }

    private func beginImport(after keeping: Task<Void, any Error>? = nil) {
        export = .importing(nil)
        importing = Task { [weak self] in await self?.importPicked(after: keeping) }
    }

    private func importPicked(after keeping: Task<Void, any Error>?) async {
        // They end with the step under way.
        for task in [intake, sender] { await task?.value }
        do {
            try await keeping?.value
            let isWhole = try await readPicked()
            app.picked.forget()
            export =
                isWhole ? .sending : .failed("The export was cut off: what was left of it is here.")
        } catch let error as HealthExportError {
            // With more space on the disk it goes on; another file would be as bad the next time.
            if case .storage = error {} else { app.picked.forget() }
            export = .failed(error.message)
        } catch is CancellationError {
            if isClosed { return }
            app.picked.forget()
            export = .failed("You stopped the import: what was stored until then is here.")
        } catch { export = .failed("Something went wrong in the app.") }
        if !isClosed { begin() }
    }

    /// - Returns: Whether the export has an end.
    private func readPicked() async throws -> Bool {
        guard let file = app.picked.file else { throw CancellationError() }
        let (steps, input) = AsyncStream.makeStream(
            of: HealthImport.Progress.self, bufferingPolicy: .bufferingNewest(1))
        Task { [weak self] in
            for await step in steps where self?.isImporting == true {
                self?.export = .importing(step)
            }
        }
        defer { input.finish() }
        let report = try await HealthImport(into: app.store).run(file.path) { input.yield($0) }
        return !report.counts.isCutOff
    }
}
