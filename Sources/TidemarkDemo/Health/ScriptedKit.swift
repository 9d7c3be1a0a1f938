import Foundation
import Synchronization
import TidemarkHealth

/// The health store of a phone, in HealthKit's place. It returns the samples as HealthKit's
/// anchored queries do: in the order in which they were recorded, so the oldest first, in pages.
///
/// A watch and a phone count the same steps, of which only the watch's may be shown.
struct ScriptedKit: Sendable {
    /// The number of the last day since 1970, which is earlier than the server's clock.
    private static let last: Int64 = 20_600
    private static let watch = HealthSource(name: "Ada’s Watch", device: .watch)
    private static let phone = HealthSource(name: "Ada’s Phone", device: .phone)

    let source = ScriptedHealthSource()
    /// The steps of each day, counted once.
    let steps: [HealthDay: Double]
    /// The time of the launch: 22:00 on the last day.
    let now: Date

    init(days: Int) {
        let midnight =
            Self.last * 86_400
            - Int64(TimeZone.current.secondsFromGMT(for: Self.date(Self.last * 86_400)))
        now = Self.date(midnight + 22 * 3_600)
        var list = SampleList()
        for index in 0..<Int64(days) {
            let number = Self.last - Int64(days) + 1 + index
            let start = midnight - (Self.last - number) * 86_400
            list.add(HealthDay(number: number), from: start, until: midnight + 22 * 3_600)
        }
        source.record(list.samples)
        steps = list.steps
    }

    private static func date(_ seconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(seconds))
    }

    /// Returns the number of pages in which an app receives all samples of some kinds.
    func pages(of kinds: Set<HealthKind>, limit: Int = 1_000) async throws -> Int {
        var count = 0
        for kind in kinds {
            var page = try await source.page(kind, after: nil, limit: limit)
            count += 1
            while !page.isLast {
                page = try await source.page(kind, after: page.anchor, limit: limit)
                count += 1
            }
        }
        return count
    }

    /// The samples of a life, day by day.
    private struct SampleList {
        private(set) var samples: [HealthSample] = []
        private(set) var steps: [HealthDay: Double] = [:]
        private var chance: UInt64 = 1

        /// - Parameters:
        ///   - start: The day's local midnight, in seconds since 1970.
        ///   - end: The end of the samples, in the same seconds.
        mutating func add(_ day: HealthDay, from start: Int64, until end: Int64) {
            if samples.isEmpty {
                add(.height, .quantity(1.72, unit: "m"), start + 28_800, 0, ScriptedKit.phone)
            }
            for slot in Int64(0)..<144 where start + slot * 600 < end {
                let time = start + slot * 600
                let pulse = Double(50 + roll(60))
                add(.heartRate, .quantity(pulse, unit: "count/min"), time, 0, ScriptedKit.watch)
                if slot % 6 == 0, slot < 36 {
                    add(.sleep, .category(3), time, 3_599, ScriptedKit.watch)
                }
                if slot == 48 {
                    add(
                        .weight, .quantity(68 + Double(roll(30)) / 10, unit: "kg"), time, 0,
                        ScriptedKit.phone)
                    add(.mood, .quantity(0.25, unit: "valence"), time, 0, ScriptedKit.phone)
                }
                // From seven to nine o'clock in the evening.
                guard (42..<126).contains(slot) else { continue }
                let count = Double(20 + roll(180))
                add(.steps, .quantity(count, unit: "count"), time, 599, ScriptedKit.watch)
                add(
                    .steps, .quantity((count * 0.9).rounded(), unit: "count"), time, 599,
                    ScriptedKit.phone)
                steps[day, default: 0] += count
            }
        }

        private mutating func roll(_ sides: UInt64) -> UInt64 {
            chance = chance &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (chance >> 33) % sides
        }

        private mutating func add(
            _ kind: HealthKind, _ value: HealthSample.Value, _ start: Int64, _ seconds: Int64,
            _ source: HealthSource
        ) {
            let number = UInt64(samples.count)
            var bytes: [UInt8] = Array(repeating: 0x4b, count: 8)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
            }
            let id = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            samples.append(
                HealthSample(
                    id: id, kind: kind, value: value, start: ScriptedKit.date(start),
                    end: ScriptedKit.date(start + seconds), source: source))
        }
    }
}

/// Passes a source on to the app, and reports each page before the app receives it.
final class WatchedKit: HealthSampleSource {
    private let source: ScriptedHealthSource
    private let report = Mutex<@Sendable () -> Void>({})

    init(_ source: ScriptedHealthSource) { self.source = source }

    /// Calls a function before each page.
    func onPage(_ report: @escaping @Sendable () -> Void) { self.report.withLock { $0 = report } }

    func page(
        _ kind: HealthKind, after anchor: HealthAnchor?, limit: Int
    ) async throws(HealthSourceError) -> HealthSamplePage {
        let report = report.withLock { $0 }
        report()
        return try await source.page(kind, after: anchor, limit: limit)
    }

    func samples(
        _ kind: HealthKind, in range: Range<Date>, limit: Int
    ) async throws(HealthSourceError) -> [HealthSample] {
        try await source.samples(kind, in: range, limit: limit)
    }

    func updates() -> AsyncStream<HealthUpdate> { source.updates() }
}
