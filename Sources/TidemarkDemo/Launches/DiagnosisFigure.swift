import TidemarkApp

/// The result of a diagnosis.
struct DiagnosisFigure: Encodable, Sendable {
    struct Step: Encodable, Sendable {
        let name: String
        let ok: Bool
        let milliseconds: Double
        let detail: String
    }

    /// The time until a launch that waits for its diagnosis showed something, in milliseconds; nil
    /// if it never did, or if the launch does not wait.
    var heldUpMs: Double?
    /// The app's message to the user about the connection; nil if there was none.
    var told: String?
    var tookMs: Double?
    var verdict: String?
    var message: String?
    var steps: [Step] = []

    init(heldUpMs: Double?) { self.heldUpMs = heldUpMs }

    /// - Parameters:
    ///   - report: The report of a separate diagnosis on the network.
    ///   - told: The app's message at its launch.
    init(_ report: DiagnosisReport, told: String?) {
        self.told = told
        verdict = report.verdict.rawValue
        message = report.verdict.message
        steps = report.steps.map {
            Step(
                name: $0.name.rawValue, ok: $0.isOK, milliseconds: $0.milliseconds,
                detail: $0.detail)
        }
        tookMs = steps.reduce(0) { $0 + $1.milliseconds }
    }

    /// Returns the failed requirements; empty if all hold.
    func wrongs(on network: LaunchNetwork) -> [String] {
        var wrongs: [String] = []
        if !network.verdicts.contains(where: { $0.rawValue == verdict }) {
            wrongs.append("the diagnosis was \(verdict ?? "none")")
        }
        if !network.verdicts.contains(where: { $0.message == told }) {
            wrongs.append("the app said: \(told ?? "nothing")")
        }
        return wrongs
    }

    /// The steps that took too long. A step ends at its deadline of five seconds, and ending it may
    /// take up to 50 ms more.
    var slow: [SlowTime] {
        let longest = steps.map(\.milliseconds).max() ?? 0
        return [SlowTime("the longest step ms", longest, limit: 5_050)].compactMap(\.self)
    }

    static func bar(of network: LaunchNetwork) -> String {
        let verdicts = network.verdicts.map(\.rawValue).sorted().joined(separator: " or ")
        return "found, and told by the app: \(verdicts); no step longer than 5 s"
    }
}

extension LaunchNetwork {
    /// The correct verdicts of a diagnosis on the network.
    var verdicts: Set<Verdict> {
        switch self {
        case .healthy: [.healthy]
        case .threeG: [.healthy, .slow]
        case .slow: [.backendSlow]
        case .refused: [.backendDown]
        case .blackhole: [.silence]
        // The verdict depends on other networks of this machine and on its DNS servers.
        case .offline: [.noNetwork, .nameUnknown, .namesFail]
        case .captive: [.captivePortal]
        }
    }
}
