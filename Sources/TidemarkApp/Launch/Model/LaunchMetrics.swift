import CoreMetrics
import Foundation

/// What launches and sign-ups come to, for swift-metrics: nothing is kept where no backend is set.
///
/// - `tidemark_launch_state_time`, by `state`: how long each state of a launch took.
/// - `tidemark_profile_creations`, by `outcome` (`created`, `exists`, `refused`, `unreachable`).
/// - `tidemark_signup_recoveries`, by `outcome` (`tried`, `finished`, `removed`): sign-ups that a
///   launch found unfinished.
/// - `tidemark_account_jobs`, by `outcome` (`signed_in`, `finished`, `removed`, `needs_person`,
///   `waiting`): what sign-ups and deletions came to, or wait for.
/// - `tidemark_account_journal_since`: since when a job stands in the journal, in seconds since 1970; 0
///   while there is none.
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

    static func job(_ news: JobNews) {
        let outcome =
            switch news {
            case .signedIn: "signed_in"
            case .finished: "finished"
            case .removed: "removed"
            case .needsPerson: "needs_person"
            case .waiting: "waiting"
            }
        count("tidemark_account_jobs", outcome)
    }

    /// - Parameter time: Nil when the journal is empty.
    static func journal(since time: Date?) {
        CoreMetrics.Gauge(label: "tidemark_account_journal_since")
            .record(time.map { $0.timeIntervalSince1970.rounded() } ?? 0)
    }

    private static func count(_ label: String, _ outcome: String) {
        CoreMetrics.Counter(label: label, dimensions: [("outcome", outcome)]).increment()
    }

    /// Without the user.
    private static func name(of state: LaunchMachine.State) -> String {
        String("\(state)".prefix { $0 != "(" })
    }
}
