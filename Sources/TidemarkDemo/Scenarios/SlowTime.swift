/// A time that exceeded its limit on this machine. It is a remark and no failure.
///
/// A busy machine makes every time longer. A demo therefore prints these times and succeeds; only
/// with `--judge-times` it fails.
struct SlowTime: Hashable, Sendable {
    /// The name of the measured time, with its unit at the end: `send ms`.
    let name: String
    let figure: Double
    let limit: Double

    /// - Returns: A value only if the figure exceeds the limit.
    init?(_ name: String, _ figure: Double, limit: Double) {
        if figure <= limit { return nil }
        (self.name, self.figure, self.limit) = (name, figure, limit)
    }

    private static let units = ["ms", "s", "%"]

    /// The remark, for example `send 2310 ms, slower than 2000 ms here`.
    var text: String {
        let words = name.split(separator: " ")
        let unit = words.last.map(String.init).flatMap { Self.units.contains($0) ? $0 : nil }
        let plain = unit == nil ? name : words.dropLast().joined(separator: " ")
        let behind = unit.map { " " + $0 } ?? ""
        return
            "\(plain) \(Bar.number(figure))\(behind), slower than \(Bar.number(limit))\(behind) here"
    }
}

extension SlowTime: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension [SlowTime] {
    /// The text for the end of a row; empty if no time was too long.
    var remark: String { isEmpty ? "" : map(\.text).joined(separator: "; ") }
}
