import CoreMetrics
import TidemarkModel

/// What audits find, for swift-metrics: nothing is kept where no backend is set.
///
/// - `tidemark_audits`, by `outcome` (`whole`, `failed`).
/// - `tidemark_audit_last_whole`: when the last one reached its end, in seconds since 1970.
/// - `tidemark_orphans`, by `kind` (`account`, `profile`): found by the last one, before any repair.
/// - `tidemark_orphans_repaired`: how many were deleted or given a profile.
/// - `tidemark_audit_reads`: what audits were billed.
enum AuditMetrics {
    static func ended(_ report: OrphanReport) {
        count("whole")
        Gauge(label: "tidemark_audit_last_whole").record(report.detectedAt.seconds)
        orphans("account", report.accountsWithoutProfile.count)
        orphans("profile", report.profilesWithoutAccount.count)
        CoreMetrics.Counter(label: "tidemark_orphans_repaired")
            .increment(by: report.repaired)
        CoreMetrics.Counter(label: "tidemark_audit_reads").increment(by: report.reads)
    }

    static func failed() { count("failed") }

    private static func count(_ outcome: String) {
        CoreMetrics.Counter(label: "tidemark_audits", dimensions: [("outcome", outcome)])
            .increment()
    }

    private static func orphans(_ kind: String, _ count: Int) {
        Gauge(label: "tidemark_orphans", dimensions: [("kind", kind)]).record(count)
    }
}
