import ArgumentParser
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync

/// The screen from what is on disk, as it comes; the server behind it.
struct HealthAfter: Sendable {
    let firestore: Firestore
    let store: HealthStore
    let collection: String
    let daysPerPart: Int

    @MainActor
    func run(_ export: String) async throws {
        let start = ContinuousClock.now
        let model = HealthSummaryModel(store, moment: { [store] in HealthMoment.last(of: store) })
        _ = try await HealthImport(into: store).run(export) { progress in
            if progress.phase == .reading { say("importing") }
        }
        let importing = ContinuousClock.now - start
        try Self.show(store)
        say("shown")
        say("figure first 7 days ms \((ContinuousClock.now - start).milliseconds)")
        let idle = try await SummaryReads.median(of: 100, store)
        say("figure summary ms \(idle.milliseconds)")

        let packing = try await send()
        let beside = (packing.summary ?? .zero) / max(idle, .nanoseconds(1))
        say("figure local ms \((importing + packing.spent).milliseconds)")
        say("figure reads beside it, times idle \(beside)")
        // Until the screen shows the last change.
        for _ in 0..<100 where !Self.isFresh(model.summary) {
            try await Task.sleep(for: .milliseconds(20))
        }
        guard Self.isFresh(model.summary) else {
            throw ValidationError("The screen did not show the last change within two seconds.")
        }
        say("figure refreshes \(model.refreshes)")
    }

    /// Sends all days, and reads the summary again and again meanwhile.
    ///
    /// - Returns: How much of the time was this device's work, and what a summary took.
    private func send() async throws -> (spent: Duration, summary: Duration?) {
        let history = TimedHistory(
            try HealthHistory(
                store, to: firestore.collection(collection), daysPerPart: daysPerPart,
                now: { Timestamp() }))
        guard let job = try history.history.job() else { return (.zero, nil) }
        let backfill = Backfill([.init(job, from: history, to: history)])
        let states = await backfill.progress
        let reads = SummaryReads()
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
        return (history.spent.total, reads.median)
    }

    private static func isFresh(_ summary: HealthSummary) -> Bool {
        HealthSummary.Item.allCases.allSatisfy { summary.phase($0) == .fresh }
    }

    /// Seven days, read as the screen reads them.
    private static func show(_ store: HealthStore) throws {
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
    private let times = Mutex<[Duration]>([])

    var median: Duration? { times.withLock { $0.median } }

    /// One every few milliseconds, until it is cancelled.
    func run(_ store: HealthStore) async throws {
        while !Task.isCancelled {
            let time = try await Self.one(store)
            times.withLock { $0.append(time) }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    static func median(of count: Int, _ store: HealthStore) async throws -> Duration {
        var times: [Duration] = []
        for _ in 0..<count {
            times.append(try await one(store))
            try await Task.sleep(for: .milliseconds(2))
        }
        return times.median ?? .zero
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
