import TidemarkModel
import TidemarkRules

/// The rules in force, and the results of each part of their file.
struct RulesInForce {
    let settings: RulesSettings
    /// The coverage; nil if nothing is recorded.
    var coverage: RulesCoverage?

    init(_ settings: RulesSettings) {
        self.settings = settings
        coverage = settings.isRecorded ? RulesCoverage(of: settings.rules) : nil
    }

    mutating func clearCoverage() { self = RulesInForce(settings) }
}

/// Logs the reasons of refusals if the callers do not receive them.
///
/// Every caller can cause refusals, so the number of lines per second is limited. The next line
/// states how many were omitted.
struct RefusalLines {
    /// The maximum number of lines in a second.
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
    /// The text on a single line, with control characters escaped.
    fileprivate var printable: String {
        unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control
                ? scalar.escaped(asASCII: true) : String(scalar)
        }.joined()
    }
}
