public import Foundation
public import Observation
import Tidemark
public import TidemarkApp
public import TidemarkHealth

/// The summary screen: eight values from one snapshot, the last seven days, and the progress of the
/// background work.
@MainActor @Observable
public final class HealthModel {
    /// The state of the background work.
    public enum Work: Hashable, Sendable {
        /// The newest seven days are being read.
        case firstDays
        /// The newest seven days are stored; older ones are being read.
        case older
        /// All days are stored, and new samples are followed.
        case upToDate
        /// The work stopped. The text is the reason as a sentence for the user; call
        /// ``HealthModel/tryAgain()`` to continue.
        case failed(String)
    }

    /// The state of an export that the user imports.
    public enum Export: Hashable, Sendable {
        case idle
        /// The progress of the import; nil before the file is opened.
        case importing(HealthImport.Progress?)
        /// The export is stored on this device. ``HealthModel/sending`` is the progress of sending
        /// its days.
        case sending
        case done
        /// The import stopped. The text is the reason as a sentence for the user. Call
        /// ``HealthModel/tryAgain()`` to continue if the cause may be over, or import another file.
        case failed(String)
    }

    public struct Day: Hashable, Sendable, Identifiable {
        public let day: HealthDay
        public let steps: Double
        public var id: String { "\(day)" }
    }

    public let summary: HealthSummaryModel
    /// The last seven days, newest first. They are made from the same hours as the summary.
    public private(set) var week: [Day] = []
    public private(set) var work = Work.firstDays
    public private(set) var export = Export.idle
    /// The progress of sending days; nil before any were sent.
    public private(set) var sending: BackfillProgress?
    /// The progress of fetching the days of other devices; nil if there is nothing to fetch.
    public private(set) var returning: BackfillProgress?

    @ObservationIgnored private let app: HealthApp
    /// Updates the week after each change of the store.
    @ObservationIgnored private var watching: Task<Void, Never>?
    @ObservationIgnored private var intake: Task<Void, Never>?
    @ObservationIgnored private var sender: Task<Void, Never>?
    @ObservationIgnored private var importing: Task<Void, Never>?
    @ObservationIgnored private var backfills: [Backfill] = []
    @ObservationIgnored private var isClosed = false

    /// Shows the stored data, and starts the background work; call ``close()`` to end. An import
    /// that was interrupted when the app was killed continues first.
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

    /// Continues the work after ``Work/failed(_:)`` or ``Export/failed(_:)``, from the last stored
    /// page.
    public func tryAgain() {
        if isImporting { return }
        rest()
        if case .failed = export { export = .idle }
        if app.picked.file == nil { begin() } else { beginImport() }
    }

    /// Stops all work. Stored and sent data stays. The next model continues an interrupted import.
    public func close() async {
        isClosed = true
        watching?.cancel()
        rest()
        importing?.cancel()
        for backfill in backfills { await backfill.stop() }
        await importing?.value
    }

    /// Call this when the system reports that a network is available, or that there is none.
    public func setOnline(_ isOnline: Bool) async {
        if isOnline { app.firestore.networkMayBeBack() }
        for backfill in backfills { await backfill.setOnline(isOnline) }
    }

    private func begin() {
        work = .firstDays
        sender = nil
        intake = Task { [weak self, app] in await self?.takeIn(app.intake()) }
        // The days of an export are sent without waiting for new samples.
        if export == .sending { beginSending() }
    }

    /// Stops storing samples and sending days.
    private func rest() {
        for task in [intake, sender] { task?.cancel() }
    }

    private func takeIn(_ intake: HealthIntake) async {
        do {
            if try app.store.read({ try $0.days() }) == nil { app.unfetched.begin() }
            try await intake.firstDays(until: app.now())
            work = .older
            try await intake.catchUp()
            try Task.checkCancellation()
            work = .upToDate
            beginSending(fetchingFirst: app.unfetched.isPending)
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

    /// Fetches the days that other devices have sent. A device whose store was empty does this at
    /// each launch until the download is complete.
    private func fetchDays() async {
        guard let backfill = try? app.returning() else { return }
        if await run(backfill, { $0.returning = $1 }) { app.unfetched.end() }
    }

    /// Sends all days, and later the changed ones.
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

    /// - Returns: True if all parts are done.
    @discardableResult
    private func run(
        _ backfill: Backfill, _ show: (HealthModel, BackfillProgress) -> Void
    ) async -> Bool {
        backfills.append(backfill)
        defer { backfills.removeAll { $0 === backfill } }
        await app.follow(backfill)
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

    // MARK: Exports

    private var isImporting: Bool {
        if case .importing = export { true } else { false }
    }

    /// Imports an export: the Health app's `export.zip`, or the `export.xml` in it.
    ///
    /// Returns when the app holds the file; ``export`` then shows the progress. During the import
    /// no other samples are stored and no days are sent, because each day should be sent once. If
    /// the app is killed, its next launch continues the import.
    public func bringIn(_ file: URL) async {
        if isImporting { return }
        rest()
        let keeping = Task { [app] in try await app.picked.keep(file) }
        beginImport(after: keeping)
        _ = await keeping.result
    }

    /// Stops an import. The stored part stays.
    public func cancelImport() async {
        importing?.cancel()
        await importing?.value
    }

    private func beginImport(after keeping: Task<Void, any Error>? = nil) {
        export = .importing(nil)
        importing = Task { [weak self] in await self?.importPicked(after: keeping) }
    }

    private func importPicked(after keeping: Task<Void, any Error>?) async {
        // The cancelled tasks first finish their current step.
        for task in [intake, sender] { await task?.value }
        // The export has the person's days. What is sent of them would be fetched again.
        app.unfetched.end()
        do {
            try await keeping?.value
            let isWhole = try await readPicked()
            app.picked.forget()
            export =
                isWhole ? .sending : .failed("The export was cut off: what was left of it is here.")
        } catch let error as HealthExportError {
            // After a lack of disk space the import can continue. Any other failure would repeat
            // with this file.
            if case .storage = error {} else { app.picked.forget() }
            export = .failed(error.message)
        } catch is CancellationError {
            if isClosed { return }
            app.picked.forget()
            export = .failed("You stopped the import: what was stored until then is here.")
        } catch { export = .failed("Something went wrong in the app.") }
        if !isClosed { begin() }
    }

    /// - Returns: True if the export is complete.
    private func readPicked() async throws -> Bool {
        guard let file = app.picked.file else { throw CancellationError() }
        let (steps, input) = AsyncStream.makeStream(
            of: HealthImport.Progress.self, bufferingPolicy: .bufferingNewest(1))
        // The last progress is shown before the result.
        async let report = Self.read(file, into: app.store, progress: input)
        for await step in steps { export = .importing(step) }
        return try await !report.counts.isCutOff
    }
    /// Imports a file, and ends the stream of its progress.
    private nonisolated static func read(
        _ file: URL, into store: HealthStore,
        progress: AsyncStream<HealthImport.Progress>.Continuation
    ) async throws -> HealthImport.Report {
        defer { progress.finish() }
        return try await HealthImport(into: store).run(file.path) { progress.yield($0) }
    }
}
