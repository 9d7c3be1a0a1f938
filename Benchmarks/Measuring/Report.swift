import Foundation

/// The figures, printed as they come.
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
    }

    private var suite = ""
    private var rows: [any Encodable] = []

    func begin(_ suite: String, _ title: String, yardstick: String) {
        self.suite = suite
        let columns = ["this", yardstick].map(Self.right).joined()
        print("\n\(Self.left("\(suite): \(title)"))\(columns)   ratio")
    }

    /// - Parameters:
    ///   - ours: Microseconds.
    ///   - yardstick: Microseconds; nil where nothing comparable was measured.
    ///   - items: What one step carries, to say how many a second; nil to say nothing.
    func add(_ step: String, _ ours: Double, _ yardstick: Double? = nil, items: Int? = nil) {
        let perSecond = items.map { Double($0) * 1e6 / ours }
        rows.append(
            Row(
                suite: suite, step: step, micros: ours, yardstickMicros: yardstick,
                ratio: yardstick.map { ours / $0 }, perSecond: perSecond))
        let ratio = yardstick.map { String(format: "%7.2fx", ours / $0) } ?? "        "
        let rate = perSecond.map { String(format: "%10.0f/s", $0) } ?? ""
        print(
            Self.left(step.hasPrefix(" ") ? step : "  " + step) + Self.right(Self.text(ours))
                + Self.right(yardstick.map(Self.text) ?? "") + ratio + rate)
    }

    /// A figure beside its bar.
    ///
    /// - Parameter more: What else was measured with it, for the file.
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

    /// A figure of the client's workload, as JSON, because it is compared with others'.
    func add(_ line: some Encodable) {
        rows.append(line)
        print((try? Self.json(line)) ?? "\(line)")
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
