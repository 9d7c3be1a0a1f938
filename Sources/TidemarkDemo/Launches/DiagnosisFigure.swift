import TidemarkApp

/// What a diagnosis came to.
struct DiagnosisFigure: Encodable, Sendable {
    struct Step: Encodable, Sendable {
        let name: String
        let ok: Bool
        let milliseconds: Double
        let detail: String
    }

    /// How long nothing else was done for it; nil for ever, or where nothing waits for it.
    var heldUpMs: Double?
    var tookMs: Double?
    var verdict: String?
    var message: String?
    var steps: [Step] = []
    var holds = false

    private enum CodingKeys: String, CodingKey { case heldUpMs, tookMs, verdict, message, steps }

    init(heldUpMs: Double?) { self.heldUpMs = heldUpMs }

    init(_ report: DiagnosisReport, of network: LaunchNetwork) {
        verdict = report.verdict.rawValue
        message = report.verdict.message
        steps = report.steps.map {
            Step(
                name: $0.name.rawValue, ok: $0.isOK, milliseconds: $0.milliseconds,
                detail: $0.detail)
        }
        tookMs = steps.reduce(0) { $0 + $1.milliseconds }
        // What a step's end takes beyond its deadline.
        let isInTime = steps.allSatisfy { $0.milliseconds <= 5_050 }
        holds = network.verdicts.contains(report.verdict) && isInTime
    }

    static func bar(of network: LaunchNetwork) -> String {
        let verdicts = network.verdicts.map(\.rawValue).sorted().joined(separator: " or ")
        return "found: \(verdicts); no step longer than 5 s"
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

    /// Whether an answer comes before a person has gone.
    var reachesServer: Bool { self == .healthy || self == .threeG }
}
