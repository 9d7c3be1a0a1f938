import CTidemarkSQLite
import Foundation
import Observation
import Synchronization
import Testing
import TestSupport

@testable import TidemarkHealth

struct `A summary` {
    private static func record(
        _ kind: HealthKind, _ start: String, _ end: String, _ value: String, _ unit: String
    ) -> String {
        """
        <Record type="\(kind.typeIdentifier)" sourceName="Watch" unit="\(unit)" \
        startDate="2026-05-\(start):00 +0200" endDate="2026-05-\(end):00 +0200" value="\(value)"/>
        """
    }

    static let text = exportText(
        [
            record(.steps, "09 23:30", "10 00:30", "600", "count"),
            record(.steps, "10 10:00", "10 10:30", "1000", "count"),
            record(.steps, "10 20:00", "10 20:30", "2000", "count"),
            record(.weight, "01 07:00", "01 07:00", "72.5", "kg"),
            record(.weight, "02 07:00", "02 07:00", "72.4", "kg"),
            record(.weight, "03 07:00", "03 07:00", "72.3", "kg"),
            record(.weight, "04 07:00", "04 07:00", "72.2", "kg"),
            record(.weight, "05 07:00", "05 07:00", "72.1", "kg"),
            record(.weight, "06 07:00", "06 07:00", "72.0", "kg"),
            record(.height, "01 07:00", "01 07:00", "180", "cm"),
            record(.mood, "10 12:00", "10 12:00", "0.4", ""),
            record(.heartRate, "10 12:00", "10 12:00", "60", "count/min"),
            record(.heartRate, "10 20:10", "10 20:10", "80", "count/min"),
            record(.heartRate, "10 20:20", "10 20:20", "90", "count/min"),
            record(
                .sleep, "09 22:30", "10 06:15", "HKCategoryValueSleepAnalysisAsleepCore", ""),
            record(.sleep, "09 02:00", "09 06:00", "HKCategoryValueSleepAnalysisAsleep", ""),
        ].joined(separator: "\n"))

    /// The moment 10 May 2026, 21:00 in Berlin.
    static let moment = HealthMoment(seconds: 1_778_439_600, offset: 120)

    private func store(_ scratch: Scratch) async throws -> HealthStore {
        let store = try scratch.store()
        _ = try await HealthImport(into: store).run(
            try scratch.write(Array(Self.text.utf8)))
        return store
    }

    @Test func `has the eight values`() async throws {
        let scratch = try Scratch()
        let store = try await store(scratch)
        let summary = try store.read { snapshot in
            var summary = HealthSummary()
            try snapshot.read(
                Set(HealthSummary.Item.allCases), of: &summary, at: Self.moment)
            return summary
        }
        #expect(summary.stepsToday == 3_300)
        #expect(summary.weight?.value == 72.0)
        #expect(summary.height?.value == 1.8)
        #expect(summary.lastWeights.map(\.value) == [72.0, 72.1, 72.2, 72.3, 72.4])
        #expect(summary.mood?.value == 0.4)
        #expect(summary.heartRate?.value == 90)
        #expect(summary.heartRateHours.map(\.value) == [85])
        #expect(summary.stepsHours.map(\.hour) == [20])
        #expect(summary.stepsHours.map(\.sum) == [2_000])
        #expect(summary.sleep?.asleep == 7.75 * 3_600)
        #expect(summary.phases.values.allSatisfy { $0 == .fresh })
    }

    /// The summary must not search all earlier years for eight hours that do not exist.
    @Test func `costs no more on ten years than on ten days`() async throws {
        func steps(_ days: Int) throws -> Int {
            let scratch = try Scratch()
            let store = try scratch.store()
            let last = Self.moment.day.number
            try store.database.write { db in
                for kind in [HealthKind.steps, .heartRate] {
                    for day in (last - Int64(days))..<last {
                        for hour in Int64(0)..<24 {
                            try db.execute(
                                "INSERT INTO hour VALUES (?, ?, ?, 0, 0, 1, 1, 1, 1, 1, 1, 0)",
                                [Int64(kind.rawValue), day, day * 86_400 + hour * 3_600])
                        }
                    }
                }
            }
            return try store.read { snapshot in
                try Self.instructions(of: snapshot.db) {
                    var summary = HealthSummary()
                    try snapshot.read(
                        Set(HealthSummary.Item.allCases), of: &summary, at: Self.moment)
                }
            }
        }
        let few = try steps(10)
        #expect(few > 10)
        #expect(try steps(3_650) <= few + few / 2)
    }

    /// Returns the number of SQLite's instructions that `body` takes, in tens.
    private static func instructions(of db: HealthConnection, _ body: () throws -> Void) rethrows
        -> Int
    {
        var count = 0
        try withUnsafeMutablePointer(to: &count) { pointer in
            sqlite3_progress_handler(
                db.handle, 10,
                { context in
                    context?.assumingMemoryBound(to: Int.self).pointee += 1
                    return 0
                }, pointer)
            defer { sqlite3_progress_handler(db.handle, 0, nil, nil) }
            try body()
        }
        return count
    }

    @Test func `of nothing is fresh and empty`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let summary = try store.read { snapshot in
            var summary = HealthSummary()
            try snapshot.read(
                Set(HealthSummary.Item.allCases), of: &summary, at: Self.moment)
            return summary
        }
        #expect(summary.stepsToday == 0 && summary.weight == nil && summary.sleep == nil)
        #expect(HealthSummary().phase(.mood) == .loading)
    }

    /// Waits until a fact about observed state is true.
    @MainActor
    private func wait(for fact: @MainActor () -> Bool) async {
        while !fact() {
            await withCheckedContinuation { continuation in
                let once = Mutex<CheckedContinuation<Void, Never>?>(continuation)
                let isThere = withObservationTracking {
                    fact()
                } onChange: {
                    once.withLock { $0.take() }?.resume()
                }
                if isThere { once.withLock { $0.take() }?.resume() }
            }
            await Task.yield()
        }
    }

    @MainActor
    @Test(.timeLimit(.minutes(2)))
    func `is refreshed once for all the changes of half a second`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let clock = HeldClock()
        let model = HealthSummaryModel(store, moment: { Self.moment }, clock: clock)
        #expect(model.summary.phase(.stepsToday) == .loading)
        await wait { model.refreshes == 1 }
        #expect(model.summary.stepsToday == 0)
        // The import stores each kind separately. Then a hundred changes of two kinds are
        // announced.
        _ = try await HealthImport(into: store).run(try scratch.write(Array(Self.text.utf8)))
        for _ in 0..<100 { store.announce(.of([.steps, .heartRate])) }
        await wait { HealthSummary.Item.allCases.allSatisfy { model.summary.phase($0) == .stale } }
        await clock.waitForSleepers(2)
        #expect(model.refreshes == 1)
        clock.advance(by: SummaryMachine.pause)
        await wait { model.refreshes == 2 }
        #expect(model.summary.stepsToday == 3_300)
        #expect(model.summary.phases.values.allSatisfy { $0 == .fresh })
    }

    @MainActor
    @Test(.timeLimit(.minutes(2)))
    func `keeps its values when reading fails, and says why`() async throws {
        let scratch = try Scratch()
        let store = try await store(scratch)
        let clock = HeldClock()
        let model = HealthSummaryModel(store, moment: { Self.moment }, clock: clock)
        await wait { model.refreshes == 1 }
        try store.database.write { db in try db.execute("ALTER TABLE hour RENAME TO gone") }
        store.announce(.of([.mood]))
        await clock.waitForSleepers(2)
        clock.advance(by: SummaryMachine.pause)
        await wait { model.refreshes == 2 }
        guard case .failed(let sentence) = model.summary.phase(.mood) else {
            Issue.record("a read of a table that is gone succeeded")
            return
        }
        #expect(sentence.contains("storage"))
        #expect(model.summary.mood?.value == 0.4)
        #expect(model.summary.phase(.sleep) == .fresh)
    }
}

/// A clock that advances only when a test moves it.
final class HeldClock: Clock, Sendable {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        var offset: Swift.Duration
        func advanced(by duration: Swift.Duration) -> Instant {
            Instant(offset: offset + duration)
        }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [(deadline: Instant, wake: CheckedContinuation<Void, Never>)] = []
        var watchers: [(count: Int, told: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Swift.Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        await withCheckedContinuation { wake in
            let watchers = state.withLock { state in
                state.sleepers.append((deadline, wake))
                let count = state.sleepers.count
                defer { state.watchers.removeAll { $0.count <= count } }
                return state.watchers.filter { $0.count <= count }
            }
            for watcher in watchers { watcher.told.resume() }
        }
    }

    /// Returns when `count` tasks sleep.
    func waitForSleepers(_ count: Int) async {
        await withCheckedContinuation { watcher in
            let isThere = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, watcher))
                return false
            }
            if isThere { watcher.resume() }
        }
    }

    func advance(by duration: Swift.Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due
        }
        for sleeper in due { sleeper.wake.resume() }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A summary's hours` {
    @Test func `end with the hour of the clock on the wall`() {
        // The time is 20:59:59 in Kathmandu, 5 h 45 min east.
        let last = HealthMoment(seconds: 1_778_339_699, offset: 345)
        #expect(last.untilNextHour == .seconds(1))
        #expect(
            HealthMoment(seconds: last.seconds + 1, offset: 345).untilNextHour == .seconds(3_600))
        #expect(HealthMoment(seconds: -1, offset: 0).untilNextHour == .seconds(1))
    }

    @MainActor
    @Test func `begin by themselves, and the day with them`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        try await store.insert([MadeSamples.steps(600, at: -30)])
        let clock = HeldClock()
        // The time is 23:40 in Berlin.
        let start = Int64(MadeSamples.midnight.timeIntervalSince1970) - 1_200
        let model = HealthSummaryModel(
            store,
            moment: {
                HealthMoment(
                    seconds: start + clock.now.offset.components.seconds, offset: 120)
            }, clock: clock)
        await clock.waitForSleepers(1)
        try await until("the summary is made") { model.refreshes > 0 }
        #expect(model.summary.stepsToday == 600)
        clock.advance(by: .seconds(1_200))
        // The sleepers are the next hour, and the half second that collects changes.
        await clock.waitForSleepers(2)
        #expect(model.summary.phase(.stepsToday) == .stale)
        clock.advance(by: SummaryMachine.pause)
        try await until("the summary is made again") { model.refreshes != 1 }
        #expect(model.summary.stepsToday == 0)
        #expect(model.summary.stepsHours.map(\.sum) == [600])
    }

    @Test func `are those of the device now`() {
        let before = Int64(Date().timeIntervalSince1970)
        let now = HealthMoment.now
        #expect(now.seconds >= before && now.seconds <= before + 60)
        #expect(now.offset == TimeZone.current.secondsFromGMT() / 60)
    }
}
