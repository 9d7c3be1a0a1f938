import ArgumentParser
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync

/// The screen from what is on disk, as it comes; the server behind it.
struct HealthAfter: Sendable {
    /// Reads of the summary while nothing else is done.
    private static let idleReads = 1_000

    let firestore: Firestore
    let store: HealthStore
    let collection: String
    let daysPerPart: Int

    @MainActor
    func run(_ export: String) async throws {
        let model = HealthSummaryModel(store, moment: { [store] in HealthMoment.last(of: store) })
        let beside = SummaryReads()
        let importing = try await bringIn(export, beside)
        let sending = try await send(beside)
        say("sent")
        say("figure local ms \((importing + sending).milliseconds)")
        // Until the screen shows the last change.
        for _ in 0..<100 where !Self.isFresh(model.summary) {
            try await Task.sleep(for: .milliseconds(20))
        }
        guard Self.isFresh(model.summary) else {
            throw ValidationError("The screen did not show the last change within two seconds.")
        }
        say("figure refreshes \(model.refreshes)")
        let idle = SummaryReads()
        try await idle.run(store, count: Self.idleReads)
        Self.tell(beside, idle)
    }

    /// Brings in the export. The screen shows its seven days as soon as they are in the store, and from
    /// then on is read again and again while the rest comes.
    ///
    /// - Returns: How long the import took.
    @MainActor
    private func bringIn(_ export: String, _ reads: SummaryReads) async throws -> Duration {
        let start = ContinuousClock.now
        let (stored, input) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let screen = Task { [store] in
            for await _ in stored { break }
            try Task.checkCancellation()
            try Self.show(store)
            say("shown")
            say("figure first 7 days ms \((ContinuousClock.now - start).milliseconds)")
        }
        let reading = Task { [store] in
            try await screen.value
            try await reads.run(store)
        }
        defer {
            screen.cancel()
            reading.cancel()
        }
        _ = try await HealthImport(into: store).run(export) { progress in
            if progress.phase == .reading { say("importing") }
            if progress.firstDays == .stored { input.yield() }
        }
        let spent = ContinuousClock.now - start
        reading.cancel()
        // What came with the rest is shown now.
        input.finish()
        try await screen.value
        return spent
    }

    /// Sends all days, and reads the summary again and again meanwhile.
    ///
    /// - Returns: How much of the time was this device's work.
    private func send(_ reads: SummaryReads) async throws -> Duration {
        let history = TimedHistory(
            try HealthHistory(
                store, to: firestore.collection(collection), daysPerPart: daysPerPart,
                now: { Timestamp() }))
        guard let job = try history.history.job() else { return .zero }
        let backfill = Backfill([.init(job, from: history, to: history)])
        let states = await backfill.progress
        let reading = Task { [store] in try await reads.run(store) }
        defer { reading.cancel() }
        try await backfill.start()
        var samples = 0
        for await state in states {
            if state.samples > samples { say("part") }
            samples = state.samples
            if state.phase == .complete { break }
            if state.phase == .failed { throw BackfillEnded(failures: state.failures) }
        }
        await backfill.stop()
        return history.spent.total
    }

    /// What a summary takes, and how many times that it takes beside the import and the sending.
    private static func tell(_ beside: SummaryReads, _ idle: SummaryReads) {
        let times = (beside: beside.times, idle: idle.times)
        for (share, name) in [(0.5, ""), (0.99, "p99 ")] {
            guard let alone = times.idle.percentile(share) else { continue }
            say("figure summary \(name)ms \(alone.milliseconds)")
            let ratio = (times.beside.percentile(share) ?? .zero) / max(alone, .nanoseconds(1))
            say("figure reads beside it, \(name)times idle \(ratio)")
        }
    }

    private static func isFresh(_ summary: HealthSummary) -> Bool {
        HealthSummary.Item.allCases.allSatisfy { summary.phase($0) == .fresh }
    }

    /// Seven days, read as the screen reads them.
    ///
    /// - Throws: When there is nothing to be shown.
    static func show(_ store: HealthStore) throws {
        let bars = try store.read { snapshot in
            guard let last = try snapshot.days()?.upperBound else { return 0 }
            let charts = try HealthApp.kinds.map {
                try HealthChart.week($0, to: last, in: snapshot)
            }
            return charts.flatMap(\.bars).count { $0.value != nil }
        }
        guard bars > 0 else { throw ValidationError("There is nothing to be shown.") }
    }
}

/// A history that says how long the device worked on it.
private struct TimedHistory: BackfillSource, BackfillSink {
    typealias Items = [HealthDayRecord]

    /// Shared by the copies of it.
    final class Spent: Sendable {
        private let time = Mutex(Duration.zero)
        var total: Duration { time.withLock { $0 } }
        func add(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    let history: HealthHistory
    let spent = Spent()

    init(_ history: HealthHistory) { self.history = history }

    func fetch(
        _ range: Range<CoveragePosition>
    ) async throws(BackfillFailure) -> BackfillPart<Items> {
        let start = ContinuousClock.now
        defer { spent.add(ContinuousClock.now - start) }
        return try await history.fetch(range)
    }

    func coverage() async throws(BackfillFailure) -> Coverage { try await history.coverage() }
    func store(_ items: Items) async throws(BackfillFailure) { try await history.store(items) }
    func upload(_ items: Items) async throws(BackfillFailure) -> Int {
        try await history.upload(items)
    }
    func cover(_ coverage: Coverage) async throws(BackfillFailure) {
        try await history.cover(coverage)
    }
}

extension HealthMoment {
    /// The end of what is known.
    static func last(of store: HealthStore) -> HealthMoment {
        let last = try? store.read { try $0.latest(.steps, limit: 1).first }
        return HealthMoment(seconds: last?.lastTime ?? 0, offset: last?.offset ?? 0)
    }
}

/// How long the eight values take to read.
private final class SummaryReads: Sendable {
    private let all = Mutex<[Duration]>([])

    var times: [Duration] { all.withLock { $0 } }

    /// One every few milliseconds, until there are so many or it is cancelled.
    func run(_ store: HealthStore, count: Int = .max) async throws {
        var read = 0
        while !Task.isCancelled, read < count {
            let time = try await Self.one(store)
            all.withLock { $0.append(time) }
            read += 1
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    @concurrent
    private static func one(_ store: HealthStore) async throws -> Duration {
        let moment = HealthMoment.last(of: store)
        let start = ContinuousClock.now
        try store.read { snapshot in
            var summary = HealthSummary()
            try snapshot.read(Set(HealthSummary.Item.allCases), of: &summary, at: moment)
        }
        return .now - start
    }
}
