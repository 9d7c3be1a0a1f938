import Foundation

/// The UTC offsets of named time zones over time.
struct ZoneRules {
    private let zones: [TimeZone?]
    /// The last answer for each zone: a quarter of an hour and the minutes then.
    private var last: [(slot: Int64, offset: Int16)]

    /// - Parameter names: The names of the zones. The first is empty and means no zone.
    init(_ names: [String]) {
        zones = names.map { $0.isEmpty ? nil : TimeZone(identifier: $0) }
        last = names.map { _ in (.min, 0) }
    }

    static func isKnown(_ name: String) -> Bool { TimeZone(identifier: name) != nil }

    /// Returns the offset from UTC in minutes to the east; nil if the zone is unknown. Zones change
    /// only on quarters of an hour.
    mutating func offset(of zone: UInt16, at seconds: Int64) -> Int16? {
        guard zone > 0, Int(zone) < zones.count, let rules = zones[Int(zone)] else { return nil }
        let slot = seconds.flooredDivision(by: 900)
        if last[Int(zone)].slot == slot { return last[Int(zone)].offset }
        let date = Date(timeIntervalSince1970: Double(slot * 900))
        let offset = Int16(rules.secondsFromGMT(for: date) / 60)
        last[Int(zone)] = (slot, offset)
        return offset
    }
}
