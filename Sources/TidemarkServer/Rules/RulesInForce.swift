import TidemarkModel
import TidemarkRules

/// Rules, and what calls have asked of each part of their file.
struct RulesInForce {
    let settings: RulesSettings
    /// Nil where nothing is recorded.
    var coverage: RulesCoverage?

    init(_ settings: RulesSettings) {
        self.settings = settings
        coverage = settings.isRecorded ? RulesCoverage(of: settings.rules) : nil
    }

    mutating func clearCoverage() { self = RulesInForce(settings) }
}

/// Writes why requests were refused to the log, where the callers are not told.
///
/// Whoever may call may cause refusals, so the lines of a second have a bound; how many were left out
/// is said with the next line.
struct RefusalLines {
    /// Lines of one second.
    static let mostPerSecond = 20

    private let log: @Sendable (String) -> Void
    private var second: Int64 = .min
    private var lines = 0
    private var leftOut = 0

    init(_ log: @escaping @Sendable (String) -> Void) { self.log = log }

    mutating func note(_ request: JudgedRequest, at time: Timestamp) {
        if time.seconds != second { (second, lines) = (time.seconds, 0) }
        if lines == Self.mostPerSecond {
            leftOut += 1
            return
        }
        if leftOut > 0 {
            log("rules: \(leftOut) more requests were refused.")
            leftOut = 0
        }
        lines += 1
        let caller = request.uid.map { "'\($0.printable)'" } ?? "nobody"
        log(
            "rules: refused \(request.method.rawValue) of \(request.path.printable) to \(caller): "
                + request.reason.printable)
    }
}

extension String {
    /// On one line, and without what controls a terminal.
    fileprivate var printable: String {
        unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control
                ? scalar.escaped(asASCII: true) : String(scalar)
        }.joined()
    }
}
