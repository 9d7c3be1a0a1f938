import Testing
import TidemarkAudit
import TidemarkGoogleAuth

@Suite(.timeLimit(.minutes(2))) struct `The example on an audit` {
    /// Ends at the credentials, because the services of the example are Google's.
    @Test func `asks for the credentials first`() async throws {
        let environment = ["GCE_METADATA_HOST": "127.0.0.1:1"]
        do {
            let credentials = try await GoogleCredentials.found(in: environment)
            let project = try AuditedProject("my-app") { refused in
                try await credentials.token(replacing: refused)
            }
            let report = try await project.audit(report: "admin/orphanedUsers").run()
            await project.close()
            Issue.record("there is nobody: \(report)")
        } catch { #expect(error as? GoogleAuthError == .noCredentials) }
    }
}
