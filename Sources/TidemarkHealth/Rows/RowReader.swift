import Foundation

/// The sum of one hour and one source, as the app has added it up.
struct HourlyRow: Hashable {
    var kind: HealthKind
    /// The start of the hour of the local clock, in seconds since 1970.
    var hour: Int64
    /// The offset from UTC, in minutes to the east.
    var offset: Int
    var start: Int64
    var end: Int64
    /// The value in millionths of the kind's unit.
    var value: Int64
    var source: HealthSource
}

/// Parses rows.
struct RowReader: Sendable {
    let kinds: [String: HealthKind]
    let timeZone: TimeZone

    struct Refusal: Error {
        let reason: BadRecord.Reason
        /// The wrong text; nil if no single text is wrong.
        let text: String?

        init(_ reason: BadRecord.Reason, _ text: String? = nil) {
            self.reason = reason
            self.text = text
        }
    }

    func row(_ fields: RowFields?) throws(Refusal) -> HourlyRow {
        guard let fields else { throw Refusal(.malformed) }
        guard let name = fields.kind else { throw Refusal(.missing(attribute: "kind")) }
        guard let kind = kinds[name] ?? HealthKind(name: name) ?? HealthKind(typeIdentifier: name)
        else { throw Refusal(.badValue, name) }
        guard let written = fields.start else { throw Refusal(.missing(attribute: "start")) }
        guard let start = time(written) else {
            throw Refusal(.badDate(attribute: "start"), written)
        }
        guard PackedSample.starts.contains(start.seconds) else {
            throw Refusal(.outOfRange, written)
        }
        let offset = start.offset ?? timeZone.secondsFromGMT(for: start.date) / 60
        let east = Int64(offset) * 60
        let hour = (start.seconds + east).flooredDivision(by: 3_600) * 3_600 - east
        var end = hour + 3_600
        if let text = fields.end {
            guard let found = time(text) else { throw Refusal(.badDate(attribute: "end"), text) }
            end = found.seconds
        }
        if end < start.seconds { throw Refusal(.endsBeforeItStarts, fields.end) }
        if end > hour + 3_600 { throw Refusal(.notAnHour, fields.end) }
        return HourlyRow(
            kind: kind, hour: hour, offset: offset, start: start.seconds, end: end,
            value: try value(fields, kind),
            source: HealthSource(name: fields.source ?? "", model: nil))
    }

    private func value(_ fields: RowFields, _ kind: HealthKind) throws(Refusal) -> Int64 {
        guard let text = fields.value else { throw Refusal(.missing(attribute: "value")) }
        var bytes = text
        guard let number = bytes.withUTF8({ Decimal6.parse(UnsafeRawBufferPointer($0)) }),
            number >= 0 || kind.mayBeNegative
        else { throw Refusal(.badValue, text) }
        guard let factor = factor(kind, fields.unit) else { throw Refusal(.badUnit, fields.unit) }
        if factor == 1 { return number }
        guard let value = Decimal6.of(Double(number) / 1_000_000 * factor) else {
            throw Refusal(.badValue, text)
        }
        return value
    }

    private func factor(_ kind: HealthKind, _ unit: String?) -> Double? {
        guard let unit else { return 1 }
        if kind != .sleep { return kind.factor(unit: unit) }
        return ["s": 1, "min": 60, "h": 3_600][unit]
    }

    private struct Time {
        var seconds: Int64
        /// The offset from UTC in minutes; nil if the text has none.
        var offset: Int?
        var date: Date { Date(timeIntervalSince1970: Double(seconds)) }
    }

    /// Parses `2026-05-10T08:00:00+02:00`, also with a space instead of the `T`, without the colon
    /// or the zone, with `Z`, or with fractions of a second. Parses `20260510080000+0200` and
    /// seconds since 1970 too.
    private func time(_ text: String) -> Time? {
        var bytes = text
        if let date = bytes.withUTF8({ ExportDate.parse(UnsafeRawBufferPointer($0)) }) {
            return Time(seconds: date.seconds, offset: Int(date.offset))
        }
        if let number = Double(text) {
            guard abs(number) <= Double(PackedSample.starts.upperBound) else { return nil }
            return Time(seconds: Int64(number.rounded(.down)), offset: nil)
        }
        guard text.utf8.count >= 19, text.utf8.count <= 40,
            text.utf8.allSatisfy({ $0 < 0x80 })
        else { return nil }
        let day = text.prefix(10)
        let clock = text.dropFirst(11).prefix(8)
        guard text.dropFirst(10).first == "T" || text.dropFirst(10).first == " " else {
            return nil
        }
        var rest = text.dropFirst(19)
        if rest.first == "." { rest = rest.dropFirst().drop { $0.isNumber } }
        let zone = rest.filter { $0 != ":" && $0 != " " }
        func parsed(_ zone: String) -> ExportDate? {
            var whole = "\(day) \(clock) \(zone)"
            return whole.withUTF8 { ExportDate.parse(UnsafeRawBufferPointer($0)) }
        }
        if zone == "Z" || zone == "z" {
            return parsed("+0000").map { Time(seconds: $0.seconds, offset: nil) }
        }
        if zone.isEmpty { return parsed("+0000").map { local($0.seconds) } }
        return parsed(zone).map { Time(seconds: $0.seconds, offset: Int($0.offset)) }
    }

    /// - Parameter seconds: The local time, counted as if it were UTC.
    private func local(_ seconds: Int64) -> Time {
        let guess = Date(timeIntervalSince1970: Double(seconds))
        let first = Int64(timeZone.secondsFromGMT(for: guess))
        let better = guess.addingTimeInterval(-Double(first))
        return Time(
            seconds: seconds - Int64(timeZone.secondsFromGMT(for: better)), offset: nil)
    }
}
