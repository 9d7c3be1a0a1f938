import CoreMetrics

/// What launches and sign-ups come to, for swift-metrics: nothing is kept where no backend is set.
///
/// - `tidemark_launch_state_time`, by `state`: how long each state of a launch took.
/// - `tidemark_profile_creations`, by `outcome` (`created`, `exists`, `refused`, `unreachable`).
/// - `tidemark_signup_recoveries`, by `outcome` (`tried`, `finished`, `removed`): sign-ups that a
///   launch found unfinished.
///
/// An alert, in Prometheus' language, on one in twenty profiles that cannot be made:
/// ```
/// sum(rate(tidemark_profile_creations{outcome=~"refused|unreachable"}[10m]))
///   / sum(rate(tidemark_profile_creations[10m])) > 0.05
/// ```
enum LaunchMetrics {
    static func left(_ transition: Launch.Transition) {
        let timer = CoreMetrics.Timer(
            label: "tidemark_launch_state_time",
            dimensions: [("state", name(of: transition.from))])
        let parts = transition.time.components
        timer.recordNanoseconds(parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }

    static func profile(_ answer: ProfileAnswer) {
        count("tidemark_profile_creations", "\(answer)")
    }

    static func recovery(_ outcome: String) { count("tidemark_signup_recoveries", outcome) }

    private static func count(_ label: String, _ outcome: String) {
        CoreMetrics.Counter(label: label, dimensions: [("outcome", outcome)]).increment()
    }

    /// Without the user.
    private static func name(of state: LaunchMachine.State) -> String {
        String("\(state)".prefix { $0 != "(" })
    }
}
