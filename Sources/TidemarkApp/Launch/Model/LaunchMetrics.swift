import CoreMetrics
import Foundation

/// The metrics of launches and sign-ups, for swift-metrics. Without a backend, nothing is stored.
///
/// - `tidemark_launch_state_time`, by `state`: the duration of each state of a launch.
/// - `tidemark_profile_creations`, by `outcome` (`created`, `exists`, `refused`, `unreachable`).
/// - `tidemark_signup_recoveries`, by `outcome` (`tried`, `finished`, `removed`): sign-ups that a
///   launch found unfinished.
/// - `tidemark_account_jobs`, by `outcome` (`signed_in`, `finished`, `removed`, `needs_person`,
///   `waiting`): the results of sign-ups and deletions, or the reason for waiting.
/// - `tidemark_account_journal_since`: the time since which the journal has a job, in seconds since
///   1970; 0 if it has none.
///
/// An alert in Prometheus' language, for the case that one in twenty profiles cannot be created:
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

    /// - Parameter time: The time of the journal entry; nil if the journal is empty.
    static func journal(since time: Date?) {
        CoreMetrics.Gauge(label: "tidemark_account_journal_since")
            .record(time.map { $0.timeIntervalSince1970.rounded() } ?? 0)
    }

    private static func count(_ label: String, _ outcome: String) {
        CoreMetrics.Counter(label: label, dimensions: [("outcome", outcome)]).increment()
    }

    /// Returns the name of a state, without the user.
    static func name(of state: LaunchMachine.State) -> String {
        String("\(state)".prefix { $0 != "(" })
    }
}
