/// The header fields of an answer. Names are compared without case; fields of the same name are
/// joined by commas.
public struct HTTPFields: Hashable, Sendable {
    private var values: [String: String] = [:]

    public init(_ fields: [(name: String, value: String)] = []) {
        for field in fields {
            let name = field.name.lowercased()
            values[name] = values[name].map { "\($0), \(field.value)" } ?? field.value
        }
    }

    /// - Parameter name: The name in lowercase.
    subscript(name: String) -> String? { values[name] }

    /// Returns a number of at most 15 digits without a sign; nil for anything else.
    func number(_ name: String) -> Int? {
        self[name].flatMap { Self.number($0) }
    }

    static func number(_ text: some StringProtocol) -> Int? {
        let digits = text.utf8
        guard (1...15).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return digits.reduce(0) { 10 * $0 + Int($1 - 48) }
    }

    /// The directives of `Cache-Control` in lowercase, with their values after `=`.
    var cacheControl: [String: String] {
        var directives: [String: String] = [:]
        for part in (self["cache-control"] ?? "").split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard let name = pair.first.map(Self.trimmed), !name.isEmpty else { continue }
            let value = pair.count == 2 ? Self.trimmed(pair[1]) : ""
            // The first of two equal directives counts.
            directives[name.lowercased()] =
                directives[name.lowercased()]
                ?? value.filter { $0 != "\"" }
        }
        return directives
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}

/// Parses dates in HTTP's form, such as `Sun, 06 Nov 1994 08:49:37 GMT`. The two obsolete forms
/// count as no date.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Returns: Seconds since 1970.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            let day = HTTPFields.number(parts[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(parts[2])),
            let year = HTTPFields.number(parts[3]), (1_970...9_999).contains(year)
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = HTTPFields.number(time[0]), hour < 24,
            let minute = HTTPFields.number(time[1]), minute < 60,
            let second = HTTPFields.number(time[2]), second <= 60
        else { return nil }
        let days = days(year, month: month + 1, day: day)
        return ((days * 24 + Int64(hour)) * 60 + Int64(minute)) * 60 + Int64(second)
    }

    /// Days since 1970 of a Gregorian date, counted in years that begin in March.
    private static func days(_ year: Int, month: Int, day: Int) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let inEra = year - era * 400
        let inYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return Int64(era * 146_097 + inEra * 365 + inEra / 4 - inEra / 100 + inYear - 719_468)
    }
}
