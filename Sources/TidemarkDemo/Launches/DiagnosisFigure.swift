import TidemarkApp

/// What a diagnosis came to.
struct DiagnosisFigure: Encodable, Sendable {
    struct Step: Encodable, Sendable {
        let name: String
        let ok: Bool
        let milliseconds: Double
        let detail: String
    }

    /// When the launch showed something that waits for its own diagnosis first, in milliseconds; nil for
    /// never, or where nothing waits for one.
    var heldUpMs: Double?
    /// What the app told the person of its connection; nil where it said nothing.
    var told: String?
    var tookMs: Double?
    var verdict: String?
    var message: String?
    var steps: [Step] = []

    init(heldUpMs: Double?) { self.heldUpMs = heldUpMs }

    /// - Parameters:
    ///   - report: Of a diagnosis on that network, alone.
    ///   - told: What the app said at its launch.
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

    /// What is wrong; empty where it holds.
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

    /// A step ends at its deadline of five seconds; what its end takes is beyond it.
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
    /// What is the matter there.
    var verdicts: Set<Verdict> {
        switch self {
        case .healthy: [.healthy]
        case .threeG: [.healthy, .slow]
        case .slow: [.backendSlow]
        case .refused: [.backendDown]
        case .blackhole: [.silence]
        // By whether this machine has another network, and whom that asks for names.
        case .offline: [.noNetwork, .nameUnknown, .namesFail]
        case .captive: [.captivePortal]
        }
    }
}
