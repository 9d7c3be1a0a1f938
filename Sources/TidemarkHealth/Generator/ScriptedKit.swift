package import Foundation

/// The health store of a phone, in HealthKit's place. It returns the samples as HealthKit's
/// anchored queries do: in the order in which they were recorded, so the oldest first, in pages.
///
/// A watch and a phone count the same steps, of which only the watch's may be shown. The watch
/// reads the pulse every ten minutes.
package struct ScriptedKit: Sendable {
    /// The number of the last day since 1970, which is earlier than the server's clock.
    private static let last: Int64 = 20_600
    /// The number of times that the watch reads the pulse on a day.
    package static let pulsesADay = 144
    private static let watch = HealthSource(name: "Ada’s Watch", device: .watch)
    private static let phone = HealthSource(name: "Ada’s Phone", device: .phone)

    package let source = ScriptedHealthSource()
    /// The steps of each day, counted once.
    package let steps: [HealthDay: Double]
    /// The time of the launch: 22:00 on the last day.
    package let now: Date
    /// The last local day with samples.
    package var lastDay: HealthDay { HealthDay(number: Self.last) }

    /// - Parameters:
    ///   - days: The number of days until ``lastDay``; at least 1.
    ///   - kinds: The kinds that have samples. Ten years of all kinds are 1.2 million samples.
    package init(days: Int, kinds: Set<HealthKind> = Set(HealthKind.allCases)) {
        precondition(days > 0)
        let midnight =
            Self.last * 86_400
            - Int64(TimeZone.current.secondsFromGMT(for: Self.date(Self.last * 86_400)))
        now = Self.date(midnight + 22 * 3_600)
        var list = SampleList(kinds: kinds)
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
    package func pages(of kinds: Set<HealthKind>, limit: Int = 1_000) async throws -> Int {
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
        private let kinds: Set<HealthKind>
        private var chance: UInt64 = 1
        /// The number of samples so far, of all kinds.
        private var count: UInt64 = 0

        init(kinds: Set<HealthKind>) { self.kinds = kinds }

        /// - Parameters:
        ///   - start: The day's local midnight, in seconds since 1970.
        ///   - end: The end of the samples, in the same seconds.
        mutating func add(_ day: HealthDay, from start: Int64, until end: Int64) {
            if count == 0 {
                add(.height, .quantity(1.72, unit: "m"), start + 28_800, 0, ScriptedKit.phone)
            }
            for slot in Int64(0)..<Int64(ScriptedKit.pulsesADay) where start + slot * 600 < end {
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
            count += 1
            guard kinds.contains(kind) else { return }
            // The bits of HealthKit's ids are random, which decides where a store writes them.
            var dice = Dice(0x4b, count)
            let bits = [dice.next(), dice.next()]
            let id = bits.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            samples.append(
                HealthSample(
                    id: id, kind: kind, value: value, start: ScriptedKit.date(start),
                    end: ScriptedKit.date(start + seconds), source: source))
        }
    }
}
