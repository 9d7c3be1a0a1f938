import Foundation

/// Prints the figures when they are known, and keeps them for a file.
final class Report {
    private struct Row: Encodable {
        let suite: String
        let step: String
        let micros: Double?
        let yardstickMicros: Double?
        let ratio: Double?
        let perSecond: Double?
        var figure: Double?
        var limit: Double?
        var unit: String?
        var holds: Bool?
        var more: [String: Double]?
        var ratioLimit: Double?
    }

    private var suite = ""
    private var rows: [any Encodable] = []
    /// True if every ratio with a bar holds.
    private(set) var allRatiosHold = true

    func begin(_ suite: String, _ title: String, yardstick: String) {
        self.suite = suite
        let columns = ["this", yardstick].map(Self.right).joined()
        print("\n\(Self.left("\(suite): \(title)"))\(columns)   ratio")
    }

    /// - Parameters:
    ///   - ours: Our time in microseconds.
    ///   - yardstick: The yardstick's time in microseconds; nil if nothing comparable was measured.
    ///   - worst: The bar, the maximum ratio to the yardstick; nil for a step without a bar.
    ///   - items: The number of items in one step, to print a rate; nil for no rate.
    ///   - more: Other figures of the step, for the file.
    /// - Precondition: A step with a bar has a yardstick.
    func add(
        _ step: String, _ ours: Double, against yardstick: Double? = nil,
        atMost worst: Double? = nil,
        items: Int? = nil, more: [String: Double]? = nil
    ) {
        precondition(worst == nil || yardstick != nil, "\(step) has a bar and no yardstick")
        let perSecond = items.map { Double($0) * 1e6 / ours }
        let holds = worst.map { ours <= $0 * (yardstick ?? 0) }
        rows.append(
            Row(
                suite: suite, step: step, micros: ours, yardstickMicros: yardstick,
                ratio: yardstick.map { ours / $0 }, perSecond: perSecond, holds: holds, more: more,
                ratioLimit: worst))
        if holds == false { allRatiosHold = false }
        let ratio = yardstick.map { String(format: "%7.2fx", ours / $0) } ?? "        "
        let rate = perSecond.map { String(format: "%10.0f/s", $0) } ?? ""
        let bar = worst.map { String(format: "  %@ %.4g", holds == true ? "<=" : "MISSED", $0) }
        print(
            Self.left(step.hasPrefix(" ") ? step : "  " + step) + Self.right(Self.text(ours))
                + Self.right(yardstick.map(Self.text) ?? "") + ratio + rate + (bar ?? ""))
    }

    /// Adds a figure with its bar.
    ///
    /// - Parameter more: Other figures of the step, for the file.
    func add(_ bar: Bar, _ figure: Double, detail: String, more: [String: Double]? = nil) {
        rows.append(
            Row(
                suite: "bars", step: bar.name, micros: nil, yardstickMicros: nil, ratio: nil,
                perSecond: nil, figure: figure, limit: bar.limit, unit: bar.unit,
                holds: bar.holds(figure), more: more))
        let verdict = bar.holds(figure) ? "holds " : "MISSED"
        let sign = bar.isAtMost ? "<" : ">"
        print(
            "  \(verdict) " + Self.left(bar.name)
                + String(format: "%10.2f %@  %@ %.4g  ", figure, bar.unit, sign, bar.limit)
                + detail)
    }

    /// Adds a figure of the client's workload, as JSON, because it is compared with figures of
    /// others.
    func add(_ line: some Encodable) {
        rows.append(line)
        print((try? Self.json(line)) ?? "\(line)")
    }

    /// Adds a step that was not measured although it should have been. Its benchmark fails.
    ///
    /// - Parameter what: The missing part: the samples, or those of the yardstick.
    func add(missing what: String, of step: String, suite: String, count: Int) {
        add(MissingStep(suite: suite, step: step, n: count, missing: what))
    }

    func lines() throws -> String {
        try rows.map { try Self.json($0) + "\n" }.joined()
    }

    private static func json(_ row: any Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(row), as: UTF8.self)
    }

    private static func text(_ micros: Double) -> String { String(format: "%.1f µs", micros) }

    private static func left(_ text: String) -> String {
        text.padding(toLength: 48, withPad: " ", startingAt: 0)
    }

    private static func right(_ text: String) -> String {
        String(repeating: " ", count: max(1, 16 - text.count)) + text
    }
}

/// A line of JSON instead of a figure.
private struct MissingStep: Encodable {
    let suite: String
    let step: String
    let n: Int
    let missing: String
    var holds = false
}
