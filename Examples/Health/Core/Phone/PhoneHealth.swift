import Foundation
import TidemarkHealth

/// The health store of the phone, in place of HealthKit. It exists longer than the app's process.
///
/// It holds ninety days of an invented user, hour by hour. A watch and a phone count the same
/// steps.
struct PhoneHealth: Sendable {
    static let days = 90

    let source = ScriptedHealthSource()
    /// The start of the phone's life in seconds since 1970, rounded down to the hour.
    let birth: Int64
    private let file: URL
    private static let watch = HealthSource(name: "Ada’s Watch", device: .watch)
    private static let phone = HealthSource(name: "Ada’s Phone", device: .phone)

    /// Opens the phone's health store.
    ///
    /// - Parameters:
    ///   - folder: The phone's folder. A file in it stores the phone's birth and later walks.
    ///   - now: The time of the first launch, which becomes the phone's birth.
    ///   - days: The number of days of history before the birth.
    init(folder: String, now: Date, days: Int = days) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        file = URL(fileURLWithPath: folder + "/phone-health.txt")
        let kept = (try? String(contentsOf: file, encoding: .utf8))?
            .split(separator: "\n").compactMap { Int64($0) }
        let hour = Int64(now.timeIntervalSince1970) / 3_600 * 3_600
        birth = kept?.first ?? hour
        if kept == nil { try Data("\(birth)\n".utf8).write(to: file) }
        source.record(Self.history(days, until: birth))
        for (number, time) in (kept ?? []).dropFirst().enumerated() {
            source.record([Self.walk(number, at: time)])
        }
    }

    /// Records 500 steps.
    func walk(at date: Date) throws {
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        let number = try handle.readToEnd().map { $0.count { $0 == 10 } - 1 } ?? 0
        let time = Int64(date.timeIntervalSince1970)
        try handle.write(contentsOf: Data("\(time)\n".utf8))
        source.record([Self.walk(number, at: time)])
    }

    private static func walk(_ number: Int, at time: Int64) -> HealthSample {
        // Adds a second for each earlier walk, because walks after fast taps would overlap
        // otherwise.
        sample(
            .steps, .quantity(500, unit: "count"), id: .max - UInt64(number),
            at: time + Int64(number), seconds: 1, from: watch)
    }

    private static func history(_ days: Int, until end: Int64) -> [HealthSample] {
        (0..<days * 24).flatMap { number in
            hour(UInt64(number), at: end - Int64(days * 24 - number) * 3_600)
        }
    }

    private static func hour(_ number: UInt64, at start: Int64) -> [HealthSample] {
        let id = number * 16
        let chance = (number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407) >> 33
        let hour = (start / 3_600) % 24
        let pulse = Double(55 + chance % 40)
        var samples = [
            sample(
                .heartRate, .quantity(pulse, unit: "count/min"), id: id, at: start + 60, from: watch
            )
        ]
        if (7..<22).contains(hour) {
            let steps = Double(100 + chance % 900)
            let unit = "count"
            samples += [
                sample(
                    .steps, .quantity(steps, unit: unit), id: id + 1, at: start, seconds: 3_599,
                    from: watch),
                sample(
                    .steps, .quantity(steps * 0.9, unit: unit), id: id + 2, at: start,
                    seconds: 3_599, from: phone),
            ]
        } else {
            samples.append(
                sample(.sleep, .category(3), id: id + 3, at: start, seconds: 3_599, from: watch))
        }
        if hour == 8 {
            let weight = 68 + Double(chance % 30) / 10
            samples += [
                sample(
                    .weight, .quantity(weight, unit: "kg"), id: id + 4, at: start + 120, from: phone
                ),
                sample(
                    .mood, .quantity(pulse > 75 ? 0.5 : -0.25, unit: "valence"), id: id + 5,
                    at: start, from: phone),
            ]
        }
        if number == 8 {
            samples.append(
                sample(.height, .quantity(1.72, unit: "m"), id: id + 6, at: start, from: phone))
        }
        return samples
    }

    private static func sample(
        _ kind: HealthKind, _ value: HealthSample.Value, id: UInt64, at start: Int64,
        seconds: Int64 = 0, from source: HealthSource
    ) -> HealthSample {
        HealthSample(
            id: uuid(id), kind: kind, value: value,
            start: Date(timeIntervalSince1970: Double(start)),
            end: Date(timeIntervalSince1970: Double(start + seconds)), source: source)
    }

    private static func uuid(_ number: UInt64) -> UUID {
        var bytes: [UInt8] = Array(repeating: 0x5a, count: 8)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
