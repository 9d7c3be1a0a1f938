/// A time that was longer than it may be, on this machine: a remark, and nothing that is wrong.
///
/// A busy machine makes every time longer. So a demo prints these and ends well;
/// `--judge-times` is the mode that is held to them.
struct SlowTime: Hashable, Sendable {
    /// What was timed, with its unit behind it: `send ms`.
    let name: String
    let figure: Double
    let limit: Double

    /// - Returns: Nil where the figure is no longer than the limit.
    init?(_ name: String, _ figure: Double, limit: Double) {
        if figure <= limit { return nil }
        (self.name, self.figure, self.limit) = (name, figure, limit)
    }

    private static let units = ["ms", "s", "%"]

    /// For example `send 2310 ms, slower than 2000 ms here`.
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
    /// For the end of a row; nothing where no time was too long.
    var remark: String { isEmpty ? "" : map(\.text).joined(separator: "; ") }
}
