import Foundation
import HealthKit
import Testing

@testable import TidemarkHealth

/// Runs the real adapter on a store that is a list.
@Suite(.timeLimit(.minutes(1))) struct `HealthKit's adapter` {
    private let store = HKHealthStore()
    private let day = Date(timeIntervalSince1970: 1_700_000_000)
    private let watch = HKSourceRevision(
        stub: HKSource(stub: "Ada's Watch"), productType: "Watch6,1")

    private var source: HealthKitSource { HealthKitSource(store) }

    private func steps(_ count: Double, _ hour: Double) -> HKQuantitySample {
        HKQuantitySample(
            stub: HKQuantityType(
                HKQuantityTypeIdentifier(rawValue: HealthKind.steps.typeIdentifier)),
            HKQuantity(unit: HKUnit(from: "count"), doubleValue: count),
            from: day.addingTimeInterval(3_600 * hour),
            to: day.addingTimeInterval(3_600 * hour + 60), source: watch,
            metadata: ["HKTimeZone": "Europe/Berlin", "HKWasUserEntered": true, "other": 1])
    }

    @Test func `reads pages, with deletions, and goes on behind its anchor`() async throws {
        let saved = (1...3).map { steps(Double($0), Double($0)) }
        for sample in saved { store.stubSave(sample) }
        let first = try await source.page(.steps, after: nil, limit: 2)
        #expect(first.samples.map(\.id) == saved.prefix(2).map(\.uuid))
        #expect(!first.isLast)
        let sample = try #require(first.samples.first)
        #expect(sample.value == .quantity(1, unit: "count"))
        #expect(sample.source == HealthSource(name: "Ada's Watch", device: .watch))
        #expect(sample.metadata == ["HKTimeZone": "Europe/Berlin", "HKWasUserEntered": "1"])
        store.stubDelete(saved[0].uuid, of: saved[0].sampleType)
        let second = try await source.page(.steps, after: first.anchor, limit: 10)
        #expect(second.samples.map(\.id) == [saved[2].uuid])
        #expect(second.deleted == [saved[0].uuid])
        #expect(second.isLast)
        let nothing = try await source.page(.steps, after: second.anchor, limit: 10)
        #expect(nothing.samples.isEmpty && nothing.deleted.isEmpty && nothing.isLast)
    }

    @Test func `reads the newest of a stretch of time`() async throws {
        for hour in 0..<5 { store.stubSave(steps(1, Double(hour))) }
        let range = day..<day.addingTimeInterval(3 * 3_600)
        let newest = try await source.samples(.steps, in: range, limit: 2)
        #expect(newest.map(\.start) == [2, 1].map { day.addingTimeInterval(3_600 * $0) })
    }

    @Test func `reads sleep and mood as they are`() async throws {
        let sleep = HKCategoryType(
            HKCategoryTypeIdentifier(rawValue: "HKCategoryTypeIdentifierSleepAnalysis"))
        store.stubSave(
            HKCategorySample(
                stub: sleep, 3, from: day, to: day.addingTimeInterval(60), source: watch))
        store.stubSave(HKStateOfMind(stub: -0.5, day, watch))
        let slept = try await source.page(.sleep, after: nil, limit: 10)
        #expect(slept.samples.map(\.value) == [.category(3)])
        let felt = try await source.page(.mood, after: nil, limit: 10)
        #expect(felt.samples.map(\.value) == [.quantity(-0.5, unit: "")])
    }

    @Test(arguments: HealthKind.allCases) func `asks for each kind in a unit that there is`(
        kind: HealthKind
    ) async throws {
        #expect(HealthKitSource.type(of: kind).identifier == kind.typeIdentifier)
        guard let unit = HealthKitReading.unit(of: kind) else { return }
        let type = HKQuantityType(HKQuantityTypeIdentifier(rawValue: kind.typeIdentifier))
        store.stubSave(
            HKQuantitySample(
                stub: type, HKQuantity(unit: HKUnit(from: unit), doubleValue: 2), from: day,
                to: day,
                source: watch))
        let page = try await source.page(kind, after: nil, limit: 10)
        #expect(page.samples.map(\.value) == [.quantity(2, unit: unit)])
    }

    @Test func `says why there is nothing`() async throws {
        store.stubFail(6)
        await #expect(throws: HealthSourceError.locked) {
            try await source.page(.steps, after: nil, limit: 1)
        }
        store.stubFail(4)
        await #expect(throws: HealthSourceError.refused) {
            try await source.samples(.steps, in: day..<day.addingTimeInterval(1), limit: 1)
        }
        let bad = HealthAnchor(Data([1, 2, 3]))
        let error = await #expect(throws: HealthSourceError.self) {
            try await source.page(.steps, after: bad, limit: 1)
        }
        guard case .failed? = error else { throw Unexpected() }
    }

    private struct Unexpected: Error {}

    @Test func `tells what is new, and stops with its reader`() async {
        let reading = Task {
            for await update in source.updates() { return update as HealthUpdate? }
            return nil
        }
        while store.stubObservers < HealthKind.allCases.count { await Task.yield() }
        store.stubSave(steps(1, 0))
        let update = await reading.value
        #expect(update?.kind == .steps)
        #expect(store.stubAcknowledged == 0, "nothing is stored yet")
        update?.stored()
        #expect(store.stubAcknowledged == 1)
        while store.stubObservers > 0 { await Task.yield() }
    }

    @Test func `asks the person, and has the system wake the app`() async throws {
        try await source.requestAuthorization(for: [.steps, .mood])
        #expect(store.stubAsked == ["HKQuantityTypeIdentifierStepCount", "HKDataTypeStateOfMind"])
        try await source.enableBackgroundDelivery(for: [.steps])
        #expect(store.stubDelivered == ["HKQuantityTypeIdentifierStepCount"])
    }
}
