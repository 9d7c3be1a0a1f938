import Foundation
import Testing

@testable import TidemarkHealth

extension HealthChange {
    /// Returns a change of these kinds on one day.
    static func of(_ kinds: Set<HealthKind>) -> HealthChange {
        var change = HealthChange()
        for kind in kinds { change.add(kind, [HealthDay("2026-05-10")!]) }
        return change
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Changes of a health store` {
    @Test func `are told together, once in half a second, and none is missed`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let clock = HeldClock()
        let changes = store.changes(clock: clock)
        let (words, input) = AsyncStream.makeStream(of: HealthChange.self)
        let reading = Task {
            for await change in changes { input.yield(change) }
        }
        defer { reading.cancel() }
        var told = words.makeAsyncIterator()
        // The test inserts some thousand samples in twenty pages.
        for page in 0..<20 {
            try await store.insert(
                (0..<100).map { MadeSamples.steps(1, at: Double(page * 100 + $0), lasting: 0) })
        }
        try await store.insert([
            HealthSample(
                id: UUID(), kind: .weight, value: .quantity(70, unit: "kg"),
                start: MadeSamples.midnight, source: MadeSamples.watch, timeZone: MadeSamples.berlin
            )
        ])
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(500))
        // The change is announced before the next change arrives: there are two announcements, not
        // one and not twenty-two.
        let first = await told.next()
        try await store.insert([MadeSamples.steps(5, at: -3_000)])
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(500))
        let second = await told.next()
        #expect(first?.kinds == [.steps, .weight])
        let day = HealthDay("2026-05-10")!
        #expect(first?.days[.weight]?.contains(day) == true)
        #expect(second?.days[.steps]?.contains(HealthDay("2026-05-07")!) == true)
        #expect(second?.days[.steps]?.contains(day) == false)
    }

    @Test func `end with their stream`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        var changes: AsyncStream<HealthChange>? = store.changes()
        #expect(store.isObserved && changes != nil)
        changes = nil
        #expect(!store.isObserved)
    }
}
