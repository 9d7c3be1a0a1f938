import Foundation
import Testing

@testable import TidemarkHealth

struct `A scripted HealthKit` {
    private static func samples(_ kit: ScriptedKit, _ kind: HealthKind) async throws
        -> [HealthSample]
    {
        try await kit.source.page(kind, after: nil, limit: .max).samples
    }

    @Test func `has the same samples of a kind, with and without the other kinds`() async throws {
        let (all, one) = (ScriptedKit(days: 3), ScriptedKit(days: 3, kinds: [.heartRate]))
        let pulses = try await Self.samples(one, .heartRate)
        // The launch is at 22:00 of the last day.
        #expect(pulses.count == 3 * ScriptedKit.pulsesADay - 12)
        #expect(try await Self.samples(all, .heartRate) == pulses)
        #expect(try await Self.samples(one, .steps).isEmpty)
        #expect(try await !Self.samples(all, .steps).isEmpty)
    }

    @Test func `gives each sample an id, whose bits are spread like HealthKit's`() async throws {
        let kit = ScriptedKit(days: 30)
        var ids: Set<UUID> = []
        var count = 0
        for kind in HealthKind.allCases {
            let samples = try await Self.samples(kit, kind)
            count += samples.count
            ids.formUnion(samples.map(\.id))
        }
        #expect(ids.count == count)
        // Each of 256 first bytes occurs, and none is frequent.
        let first = Dictionary(grouping: ids) { $0.uuid.0 }.mapValues(\.count)
        #expect(first.count == 256 && first.values.max()! < count / 100)
    }
}
