import CoreMetrics
import TidemarkModel

/// The results of audits as metrics for swift-metrics. Without a backend, they are dropped.
///
/// - `tidemark_audits`: the number of audits, by `outcome` (`whole`, `failed`).
/// - `tidemark_audit_last_whole`: the end of the last complete audit, in seconds since 1970.
/// - `tidemark_orphans`: the orphans that the last audit found before any repair, by `kind`
///   (`account`, `profile`).
/// - `tidemark_orphans_repaired`: the number of orphans that were deleted or given a profile.
/// - `tidemark_audit_reads`: the billed reads of audits.
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
