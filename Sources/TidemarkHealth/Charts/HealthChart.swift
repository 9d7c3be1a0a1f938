/// A bar chart, for a terminal or as a picture.
public struct HealthChart: Hashable, Sendable {
    public struct Bar: Hashable, Sendable {
        public let label: String
        /// The value; nil if there is no data, which differs from zero.
        public let value: Double?

        public init(label: String, value: Double?) {
            self.label = label
            self.value = value
        }
    }

    public let title: String
    public let unit: String
    public let bars: [Bar]

    public init(title: String, unit: String, bars: [Bar]) {
        self.title = title
        self.unit = unit
        self.bars = bars
    }

    /// The hours of a local day: 24, or 23 or 25 when the clock is changed, in the order in which
    /// they were lived.
    public static func day(
        _ kind: HealthKind, _ day: HealthDay, in snapshot: HealthSnapshot
    ) throws -> HealthChart {
        let entries = try snapshot.entries(kind, days: day...day)
        var bars: [Bar] = []
        for hour in 0..<24 {
            let lived = entries.filter { $0.hour == hour }
            if lived.isEmpty { bars.append(Bar(label: "\(hour)", value: nil)) }
            for entry in lived { bars.append(Bar(label: "\(hour)", value: entry.value)) }
        }
        return HealthChart(title: "\(kind.name) on \(day)", unit: kind.unit, bars: bars)
    }

    /// Returns the chart of seven local days, which end with the given day.
    public static func week(
        _ kind: HealthKind, to last: HealthDay, in snapshot: HealthSnapshot
    ) throws -> HealthChart {
        let first = HealthDay(number: last.number - 6)
        let totals = try snapshot.totals(kind, days: first...last)
        let bars = (first.number...last.number).map { number in
            let day = HealthDay(number: number)
            return Bar(
                label: day.shortWeekday + " " + "\(day)".suffix(5),
                value: totals.first { $0.day == day }?.value)
        }
        return HealthChart(title: "\(kind.name), 7 days to \(last)", unit: kind.unit, bars: bars)
    }

    var largest: Double { bars.compactMap(\.value).max() ?? 0 }

    /// Returns the value with one decimal below a hundred, and without decimals above.
    static func text(_ value: Double) -> String {
        if abs(value) >= 100 { return String(Int64(value.rounded())) }
        let tenths = Int64((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        return abs(tenths) % 10 == 0
            ? "\(sign)\(abs(tenths) / 10)" : "\(sign)\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}

extension HealthDay {
    var shortWeekday: String {
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        return names[Int(number - number.flooredDivision(by: 7) * 7)]
    }
}

// MARK: - For a terminal

extension HealthChart {
    /// A line a bar.
    /// - Parameter width: The width of the longest bar, in characters.
    public func terminal(width: Int = 40) -> String {
        precondition(width > 0)
        let labelWidth = bars.map(\.label.count).max() ?? 0
        var lines = ["\(title) (\(unit))"]
        for bar in bars {
            let label = String(repeating: " ", count: labelWidth - bar.label.count) + bar.label
            guard let value = bar.value else {
                lines.append("\(label) ·")
                continue
            }
            let blocks = Self.blocks(share(value) * Double(width))
            lines.append("\(label) \(blocks) \(Self.text(value))")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the share of the longest bar; 0 for a negative value.
    private func share(_ value: Double) -> Double {
        largest > 0 ? max(0, value) / largest : 0
    }

    /// Eighths of a character.
    private static func blocks(_ length: Double) -> String {
        let eighths = Int((length * 8).rounded())
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }
}

// MARK: - As a picture

extension HealthChart {
    /// A picture of 640 by 240, with a label a bar and the largest value at its line.
    public var svg: String {
        let (width, height, top, bottom, left) = (640.0, 240.0, 40.0, 30.0, 16.0)
        let room = height - top - bottom
        let step = bars.isEmpty ? 0 : (width - 2 * left) / Double(bars.count)
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 240\" role=\"img\" "
                + "font-family=\"sans-serif\" font-size=\"10\">",
            "<title>\(Self.escaped(title))</title>",
            "<rect width=\"640\" height=\"240\" fill=\"#ffffff\"/>",
            "<text x=\"16\" y=\"20\" font-size=\"14\">\(Self.escaped(title)) "
                + "(\(Self.escaped(unit)))</text>",
            "<text x=\"624\" y=\"36\" text-anchor=\"end\" fill=\"#666666\">"
                + "\(Self.text(largest))</text>",
            "<line x1=\"16\" y1=\"40\" x2=\"624\" y2=\"40\" stroke=\"#dddddd\"/>",
        ]
        for (number, bar) in bars.enumerated() {
            let x = left + Double(number) * step
            if let value = bar.value {
                let length = share(value) * room
                lines.append(
                    "<rect x=\"\(Self.place(x + step * 0.1))\" "
                        + "y=\"\(Self.place(top + room - length))\" "
                        + "width=\"\(Self.place(step * 0.8))\" height=\"\(Self.place(length))\" "
                        + "rx=\"2\" fill=\"#2a78d6\"><title>\(Self.escaped(bar.label)): "
                        + "\(Self.text(value))</title></rect>")
            }
            lines.append(
                "<text x=\"\(Self.place(x + step / 2))\" y=\"226\" text-anchor=\"middle\" "
                    + "fill=\"#666666\">\(Self.escaped(bar.label))</text>")
        }
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    /// Returns a coordinate with one decimal, in the same form everywhere.
    private static func place(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
