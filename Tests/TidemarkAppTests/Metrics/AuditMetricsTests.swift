import CoreMetrics
import MetricsTestKit
import Testing
import Tidemark
import TidemarkAudit
import TidemarkServer
import TidemarkTesting

/// The tasks that a test starts inherit the test's own metrics factory.
@Suite(.timeLimit(.minutes(2))) struct `Metrics of audits` {
    private let metrics = TestMetrics()

    private func audits(_ outcome: String) -> Int64 {
        metrics.counterTotal(label: "tidemark_audits", dimensions: [("outcome", outcome)])
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)] = []) throws -> Double? {
        try metrics.expectGauge(label, dimensions).lastValue
    }

    private func orphans(_ kind: String) throws -> Double? {
        try gauge("tidemark_orphans", [("kind", kind)])
    }

    private func make(_ ids: [String], _ accounts: LocalAccounts) async throws {
        try await accounts.make(ids, project: "local", token: "owner")
    }

    /// - Parameter token: The token for the accounts server.
    private func audit(
        _ local: LocalFirestore, _ accounts: LocalAccounts, token: String = "owner"
    ) throws -> OrphanAudit {
        OrphanAudit(
            accounts: AccountDirectory(
                project: local.projectID, host: accounts.host, token: token),
            profiles: ProfileDirectory(
                local.server, database: try DatabaseID(project: local.projectID),
                collection: try CollectionPath("users"), token: "owner"),
            report: nil, now: { local.now })
    }

    @Test func `count what was found, what was mended, and what it cost`() async throws {
        try await LocalFirestore.withClient { local, firestore in
            let accounts = try await LocalAccounts.start(beside: local)
            try await make(["ann", "bea", "cid"], accounts)
            for id in ["bea", "eve"] {
                try await firestore.document("users/\(id)").setData(["name": id])
            }
            let audit = try audit(local, accounts)
            try await withMetricsFactory(metrics) {
                let first = try await audit.run(repair: .writeProfiles)
                #expect(audits("whole") == 1 && audits("failed") == 0)
                #expect(try orphans("account") == 2 && orphans("profile") == 1, "as found")
                #expect(metrics.counterTotal(label: "tidemark_orphans_repaired") == 2)
                #expect(
                    metrics.counterTotal(label: "tidemark_audit_reads") == Int64(first.reads))
                #expect(
                    try gauge("tidemark_audit_last_whole") == Double(first.detectedAt.seconds))

                local.advance(by: .seconds(3_600))
                let second = try await audit.run()
                #expect(audits("whole") == 2)
                #expect(try orphans("account") == 0 && orphans("profile") == 1)
                #expect(metrics.counterTotal(label: "tidemark_orphans_repaired") == 2)
                #expect(
                    metrics.counterTotal(label: "tidemark_audit_reads")
                        == Int64(first.reads + second.reads))
                #expect(
                    try gauge("tidemark_audit_last_whole") == Double(second.detectedAt.seconds))
            }
            await accounts.stop()
        }
    }

    @Test func `count an audit that did not reach its end, and leave the last one's figures`()
        async throws
    {
        try await LocalFirestore.withClient { local, firestore in
            let accounts = try await LocalAccounts.start(beside: local)
            try await make(["ann"], accounts)
            try await withMetricsFactory(metrics) {
                let whole = try await audit(local, accounts).run()
                local.advance(by: .seconds(3_600))
                let refused = try audit(local, accounts, token: "a stranger's")
                await #expect(throws: AuditError.self) { try await refused.run() }
                #expect(audits("failed") == 1 && audits("whole") == 1)
                #expect(
                    try gauge("tidemark_audit_last_whole") == Double(whole.detectedAt.seconds))
                #expect(try orphans("account") == 1)
            }
            await accounts.stop()
        }
    }
}
