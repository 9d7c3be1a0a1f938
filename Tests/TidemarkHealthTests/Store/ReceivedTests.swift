import Foundation
import Testing

@testable import TidemarkHealth

struct `Hours of another device` {
    private static let day = HealthDay("2026-05-10")!

    private static func hours(_ store: HealthStore) throws -> [HourEntry] {
        try `An import`.hours(store)[.steps] ?? []
    }

    /// Returns a device that has measured all of the hours, and these hours.
    private static func other(_ scratch: Scratch) async throws -> (HealthStore, [HourEntry]) {
        let store = try scratch.store("other.sqlite")
        try await store.insert((8..<12).map { MadeSamples.steps(100, at: Double($0 * 60)) })
        return (store, try hours(store))
    }

    @Test func `fill what was not measured here`() async throws {
        let scratch = try Scratch()
        let (_, hours) = try await Self.other(scratch)
        let store = try scratch.store()
        try await store.insert([MadeSamples.steps(70, at: 8 * 60)])
        _ = try store.settle(store.changedDays())
        let change = try await store.receive(hours, of: [Self.day])
        #expect(change.days == [.steps: [Self.day]])
        #expect(try Self.hours(store).map(\.sum) == [70, 100, 100, 100])
        #expect(
            try store.read { try $0.totals(.steps, days: Self.day...Self.day).first?.sum } == 370)
        // Hours from the server are not sent back. The day counts as this device's own day, because
        // it also has hours of this device.
        #expect(try store.changedDays().days.isEmpty)
        #expect(try store.read { try $0.ownDays() } == Self.day...Self.day)
        let again = try await store.receive(hours, of: [Self.day])
        #expect(again.isEmpty)
        // This device measures the hour later. Only one of the two values counts.
        try await store.insert([MadeSamples.steps(95, at: 9 * 60 + 5)])
        #expect(try Self.hours(store).map(\.sum) == [70, 95, 100, 100])
        try await store.receive(hours, of: [Self.day])
        #expect(try Self.hours(store).map(\.sum) == [70, 95, 100, 100])
        // The other device has removed hours.
        let fewer = try await store.receive(Array(hours.prefix(3)), of: [Self.day])
        #expect(fewer.kinds == [.steps])
        #expect(try Self.hours(store).map(\.sum) == [70, 95, 100])
    }

    @Test func `in another zone are not counted beside one's own`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let half = HourEntry(
            kind: .steps, start: Int64(MadeSamples.midnight.timeIntervalSince1970) + 1_800,
            offset: 330, zone: "Asia/Kolkata", sumMillionths: 9_000_000, count: 0,
            minMillionths: .max, maxMillionths: .min, lastMillionths: 0, lastTime: 0)
        try await store.insert([MadeSamples.steps(70, at: 10)])
        try await store.receive([half], of: [half.day])
        #expect(try Self.hours(store).map(\.sum) == [70])
        let other = try scratch.store("kolkata.sqlite")
        try await other.receive([half], of: [half.day])
        #expect(try Self.hours(other) == [half])
        try await other.insert([MadeSamples.steps(70, at: 10)])
        #expect(try Self.hours(other).map(\.sum) == [70])
    }

    @Test func `are not sent`() async throws {
        let scratch = try Scratch()
        let (_, hours) = try await Self.other(scratch)
        let store = try scratch.store()
        try await store.receive(hours, of: [Self.day])
        #expect(try store.read { try $0.ownDays() } == nil)
        #expect(try store.read { try $0.days() } == Self.day...Self.day)
        #expect(try store.read { try $0.ownDays(in: Self.day...Self.day) } == [])
    }
}
