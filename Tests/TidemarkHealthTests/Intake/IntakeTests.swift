import Foundation
import Synchronization
import Testing
import TestSupport

@testable import TidemarkHealth

@Suite(.timeLimit(.minutes(2))) struct `An intake` {
    private static let kinds: Set<HealthKind> = [.steps, .heartRate, .sleep, .distance]

    private static func hours(_ store: HealthStore) throws -> [HealthKind: [HourEntry]] {
        try `An import`.hours(store).filter { !$0.value.isEmpty }
    }

    @Test func `shows seven days first, and then has everything`() async throws {
        let scratch = try Scratch()
        var dice = TestDice(1)
        let samples = MadeSamples.some(600, days: 60, &dice)
        let source = ScriptedHealthSource()
        source.record(samples)
        let gone = samples.filter { _ in Int.random(in: 0..<10, using: &dice) == 0 }
        for sample in gone { source.delete([sample.id], of: sample.kind) }
        let plain = try scratch.store("plain.sqlite")
        let ids = Set(gone.map(\.id))
        let living = samples.filter { !ids.contains($0.id) }
        try await plain.insert(living)

        let store = try scratch.store()
        let intake = HealthIntake(from: source, into: store, kinds: Self.kinds, pageSize: 50)
        let now = MadeSamples.midnight
        try await intake.firstDays(until: now)
        let week = now.addingTimeInterval(-7 * 86_400)
        let first = try scratch.store("week.sqlite")
        try await first.insert(living.filter { $0.start >= week && $0.start < now })
        #expect(source.pages == 0)
        #expect(try Self.hours(store) == Self.hours(first))

        let report = try await intake.catchUp()
        #expect(report.known > 0)
        #expect(try Self.hours(store) == Self.hours(plain))
        // There is nothing new, and each page is empty.
        let again = try await intake.catchUp()
        #expect(again == HealthStoreReport())
        let none = try await intake.firstDays(until: now)
        #expect(none == HealthStoreReport())
    }

    @Test func `goes on behind the last page that was stored`() async throws {
        let scratch = try Scratch()
        let source = ScriptedHealthSource()
        source.record((0..<100).map { MadeSamples.steps(10, at: Double($0) * 20) })
        let store = try scratch.store()
        let intake = HealthIntake(from: source, into: store, kinds: [.steps], pageSize: 10)
        source.fail(.locked)
        await #expect(throws: HealthIntakeError.source(.locked)) { try await intake.catchUp() }
        #expect(source.pages == 0)
        let broken = HealthIntake(
            from: Breaking(source, after: 4), into: store, kinds: [.steps], pageSize: 10)
        await #expect(throws: HealthIntakeError.source(.failed(detail: "gone"))) {
            try await broken.catchUp()
        }
        let kept = try Self.hours(store)[.steps]?.reduce(0) { $0 + $1.sum }
        #expect(kept == 400)
        let before = source.pages
        let report = try await intake.catchUp()
        #expect(report.added == 60 && report.known == 0)
        #expect(source.pages - before == 6)
    }

    @Test func `ends when its source comes no further`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let intake = HealthIntake(from: Stuck(), into: store, kinds: [.steps])
        await #expect(throws: HealthIntakeError.source(.stalled)) { try await intake.catchUp() }
    }

    @Test func `follows what is recorded and deleted`() async throws {
        let scratch = try Scratch()
        let source = ScriptedHealthSource()
        let store = try scratch.store()
        let intake = HealthIntake(from: source, into: store, kinds: [.steps])
        let (words, input) = AsyncStream.makeStream(of: HealthChange.self)
        let observation = store.observe { input.yield($0) }
        defer { withExtendedLifetime(observation) {} }
        var told = words.makeAsyncIterator()
        let sample = MadeSamples.steps(7, at: 30)
        source.record([sample])
        let following = Task { try await intake.follow() }
        defer { following.cancel() }
        _ = await told.next()
        #expect(try Self.hours(store)[.steps]?.first?.sum == 7)
        source.record([MadeSamples.steps(5, at: 45)])
        _ = await told.next()
        #expect(try Self.hours(store)[.steps]?.first?.sum == 12)
        source.delete([sample.id], of: .steps)
        _ = await told.next()
        #expect(try Self.hours(store)[.steps]?.first?.sum == 5)
        following.cancel()
        _ = await following.result
    }

    /// The system may suspend the app as soon as it hears that the app is done.
    @Test func `tells its source after the samples are stored, never before`() async throws {
        let scratch = try Scratch()
        let source = ScriptedHealthSource()
        let store = try scratch.store()
        let intake = HealthIntake(from: source, into: store, kinds: [.steps])
        let toldAtChange = Mutex<[Int]>([])
        let observation = store.observe { _ in
            toldAtChange.withLock { $0.append(source.announcements.stored) }
        }
        defer { withExtendedLifetime(observation) {} }
        let following = Task { try await intake.follow() }
        try await until("it follows") { source.pages == 1 }
        source.record([MadeSamples.steps(7, at: 30)])
        try await until("the source hears of it") { source.announcements.stored == 1 }
        #expect(toldAtChange.withLock(\.self) == [0])
        #expect(try Self.hours(store)[.steps]?.first?.sum == 7)
        // There is nothing to store of a kind that the app does not read.
        source.record([
            HealthSample(
                id: UUID(), kind: .heartRate, value: .quantity(60, unit: "count/min"),
                start: MadeSamples.midnight, end: MadeSamples.midnight,
                source: MadeSamples.watch, timeZone: MadeSamples.berlin)
        ])
        try await until("the source hears of it") { source.announcements.stored == 2 }
        source.fail(.locked)
        source.record([MadeSamples.steps(5, at: 45)])
        await #expect(throws: HealthIntakeError.source(.locked)) { try await following.value }
        #expect(source.announcements == (3, 2), "the last samples are not stored")
    }

    @Test func `waits for one update of each kind, and completes all of their announcements`()
        async throws
    {
        let updates = HealthUpdates()
        let done = Mutex<[String]>([])
        for (kind, name) in [(HealthKind.steps, "a"), (.mood, "b"), (.steps, "c")] {
            updates.add(kind) { done.withLock { $0.append(name) } }
        }
        var reader = updates.stream.makeAsyncIterator()
        let first = try #require(await reader.next())
        #expect(first.kind == .steps && done.withLock(\.isEmpty))
        // An announcement during the reading is an update of its own.
        updates.add(.steps) { done.withLock { $0.append("d") } }
        first.stored()
        #expect(done.withLock(\.self) == ["a", "c"])
        #expect(await reader.next()?.kind == .mood)
        let last = try #require(await reader.next())
        last.stored()
        #expect(last.kind == .steps && done.withLock(\.self) == ["a", "c", "d"])
        let waiting = Task { [updates] in
            for await update in updates.stream { return update.kind as HealthKind? }
            return nil
        }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }
}

/// Gives the first pages of another source, and then fails.
private final class Breaking: HealthSampleSource {
    private let source: ScriptedHealthSource
    private let last: Int

    init(_ source: ScriptedHealthSource, after pages: Int) {
        self.source = source
        last = pages
    }

    func page(
        _ kind: HealthKind, after anchor: HealthAnchor?, limit: Int
    ) async throws(HealthSourceError) -> HealthSamplePage {
        if source.pages >= last { throw .failed(detail: "gone") }
        return try await source.page(kind, after: anchor, limit: limit)
    }

    func samples(
        _ kind: HealthKind, in range: Range<Date>, limit: Int
    ) async throws(HealthSourceError) -> [HealthSample] { [] }

    func updates() -> AsyncStream<HealthUpdate> { source.updates() }
}

/// Reports further pages, but gives no samples.
private struct Stuck: HealthSampleSource {
    func page(
        _ kind: HealthKind, after anchor: HealthAnchor?, limit: Int
    ) async throws(HealthSourceError) -> HealthSamplePage {
        HealthSamplePage([], anchor: HealthAnchor(Data([1])), isLast: false)
    }

    func samples(
        _ kind: HealthKind, in range: Range<Date>, limit: Int
    ) async throws(HealthSourceError) -> [HealthSample] { [] }

    func updates() -> AsyncStream<HealthUpdate> { AsyncStream { $0.finish() } }
}
