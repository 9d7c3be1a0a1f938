public import Tidemark
public import TidemarkHealth

/// A document with all hours of a local day, so a read of a day costs one read.
///
/// A map of kinds, each with parallel arrays, oldest hour first. A day of a watch takes about 20
/// kB. Numbers are millionths of the kind's unit, as in the store.
public struct HealthDayRecord: Hashable, Sendable {
    public let day: HealthDay
    public let hours: [HourEntry]

    public init(day: HealthDay, hours: [HourEntry]) {
        precondition(hours.allSatisfy { $0.day == day }, "hours of another day")
        self.day = day
        self.hours = hours
    }

    /// The document's id, as in `2026-05-10`. The same day is the same document.
    public var documentID: String { "\(day)" }

    /// The fields, without the time of the change, which the server sets.
    package var fields: [String: Any] {
        var kinds: [String: Any] = [:]
        for (kind, hours) in Dictionary(grouping: hours, by: \.kind) {
            var arrays: [String: Any] = [
                "start": hours.map { $0.start }, "offset": hours.map { Int64($0.offset) },
                "sum": hours.map { $0.sumMillionths }, "lastTime": hours.map { $0.lastTime },
            ]
            if kind.aggregation == .reading {
                arrays["count"] = hours.map { Int64($0.count) }
                arrays["minimum"] = hours.map { $0.minMillionths }
                arrays["maximum"] = hours.map { $0.maxMillionths }
                arrays["last"] = hours.map { $0.lastMillionths }
            }
            // Zones are rare and mostly the same all day, so they are stored by the index of the
            // hour that has a zone.
            let zones = hours.enumerated().filter { $0.element.zone != nil }
            if !zones.isEmpty {
                arrays["zones"] = Dictionary(
                    uniqueKeysWithValues: zones.map { ("\($0.offset)", $0.element.zone!) })
            }
            kinds[kind.name] = arrays
        }
        return ["day": time, "kinds": kinds]
    }

    /// Midnight of the day in UTC, which orders the days.
    public var time: Timestamp { Timestamp(seconds: day.number * 86_400, nanoseconds: 0) }
}

extension HealthDayRecord {
    /// Creates a record from a document. Returns nil if the document is not such a record, or has a
    /// later version.
    public init?(documentID: String, fields: MapValue) {
        guard let day = HealthDay(documentID), case .map(let kinds)? = fields["kinds"] else {
            return nil
        }
        var hours: [HourEntry] = []
        for kind in HealthKind.allCases {
            guard case .map(let arrays)? = kinds[kind.name] else { continue }
            guard let read = Self.hours(kind, arrays), read.allSatisfy({ $0.day == day }) else {
                return nil
            }
            hours += read
        }
        self.init(day: day, hours: hours)
    }

    /// The valid times, from 1900 to 2200, in seconds since 1970.
    private static let times: ClosedRange<Int64> = -2_208_988_800...7_258_118_400

    private static func hours(_ kind: HealthKind, _ arrays: MapValue) -> [HourEntry]? {
        func numbers(_ name: String) -> [Int64]? {
            guard case .array(let values)? = arrays[name] else { return nil }
            let numbers = values.compactMap { value -> Int64? in
                if case .integer(let number) = value { number } else { nil }
            }
            return numbers.count == values.count ? numbers : nil
        }
        guard let starts = numbers("start"), let offsets = numbers("offset"),
            let sums = numbers("sum"), let times = numbers("lastTime")
        else { return nil }
        let isReading = kind.aggregation == .reading
        let names = isReading ? ["count", "minimum", "maximum", "last"] : []
        let more = names.compactMap(numbers)
        let all = [starts, offsets, sums, times] + more
        guard more.count == names.count, all.allSatisfy({ $0.count == starts.count }) else {
            return nil
        }
        // Values that no device can have written must not enter a sum.
        guard starts.allSatisfy({ Self.times.contains($0) }),
            offsets.allSatisfy({ (-1_080...1_080).contains($0) }),
            times.allSatisfy({ Self.times.contains($0) })
        else { return nil }
        return starts.indices.map { index in
            var zone: String?
            if case .map(let zones)? = arrays["zones"],
                case .string(let name)? = zones["\(index)"]
            {
                zone = name
            }
            return HourEntry(
                kind: kind, start: starts[index], offset: Int(offsets[index]), zone: zone,
                sumMillionths: sums[index], count: isReading ? Int(more[0][index]) : 0,
                minMillionths: isReading ? more[1][index] : .max,
                maxMillionths: isReading ? more[2][index] : .min,
                lastMillionths: isReading ? more[3][index] : 0, lastTime: times[index])
        }
    }
}
