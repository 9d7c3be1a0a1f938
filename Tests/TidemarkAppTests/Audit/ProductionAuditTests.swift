import Synchronization
import Testing
import TidemarkAudit
import TidemarkGoogleAuth
import TidemarkModel
import TidemarkServer
import TidemarkTesting
import TidemarkWire

/// Tests the audit as in production: Firestore over TLS, Google's paths, and a service account's
/// token from a metadata server. Another token is refused.
@Suite(.timeLimit(.minutes(2))) struct `An audit of production` {
    private static let project = PlacedGoogle.project
    private static let token = PlacedGoogle.token

    @Test func `goes over TLS, as a service account, and can make profiles`() async throws {
        let google = try await PlacedGoogle()
        let helpers = SideServers()
        try await google.make(["ann", "bea", "cid"])
        let context = CallContext(
            database: try DatabaseID(project: Self.project), token: Self.token)
        _ = try await google.transport.commit(
            [Mutation(path: try DocumentPath("users/bea"), .set(["name": .string("Bea")]))],
            context)
        try await helpers.serve { host in
            let credentials = try await GoogleCredentials.found(in: ["GCE_METADATA_HOST": host])
            #expect(try await credentials.project() == Self.project)
            let audit = try google.audit { try await credentials.token(replacing: $0) }
            let report = try await audit.run()
            #expect(report.accountsWithoutProfile.ids == ["ann", "cid"])
            let written = try await google.document("admin/orphanedUsers")
            #expect(written?.fields["count"] == .integer(2))
            #expect(written?.fields["userIds"] == .array([.string("ann"), .string("cid")]))
            #expect(written?.fields["detectedAt"] == .timestamp(report.detectedAt))

            let webhook = try #require(AuditWebhook("http://\(host)/hook"))
            try await webhook.post(report)
            let posts = helpers.posts.withLock { $0 }
            #expect(posts.count == 2, "the first one was not taken")
            #expect(posts.last?.contains(#""userIds":["ann","cid"]"#) == true)

            #expect(try await audit.run(repair: .writeProfiles).repaired == 2)
            #expect(try await google.document("users/ann") != nil)
            #expect(
                try await google.document("users/bea")?.fields["name"] == .string("Bea"),
                "one that is there is left alone")
            #expect(try await audit.run().count == 0)
        }
        try await google.stop()
    }

    @Test func `is nobody else's, and asks once more for a token that ran out`() async throws {
        let google = try await PlacedGoogle()
        try await google.make(["ann"])
        let strangers = try google.audit { _ in "a stranger's" }
        await #expect(throws: (any Error).self) { try await strangers.run() }
        // The accounts server refuses the first token, and the audit repeats the call with a new
        // one.
        let asked = Mutex(0)
        let audit = OrphanAudit(
            accounts: AccountDirectory(
                project: Self.project, base: google.base,
                tokens: { refused in
                    asked.withLock { $0 += 1 }
                    return refused == nil ? "old" : Self.token
                }),
            profiles: ProfileDirectory(
                google.transport, database: try DatabaseID(project: Self.project),
                collection: try CollectionPath("users"), token: Self.token),
            report: nil, now: { [local = google.local] in local.now })
        #expect(try await audit.run().accountsWithoutProfile.ids == ["ann"])
        #expect(asked.withLock { $0 } >= 2)
        try await google.stop()
    }

    @Test func `ends at a server with an unknown certificate`() async throws {
        let google = try await PlacedGoogle()
        try await google.make(["ann"])
        let audit = try google.audit(base: google.baseOverTLS) { _ in Self.token }
        let error = await #expect(throws: AuditError.self) { try await audit.run() }
        let message = try #require(error?.message)
        #expect(message.contains("cannot be reached: ") && message.contains("certificate"))
        try await google.stop()
    }

    @Test func `posts to an address of the web alone`() {
        #expect(AuditWebhook("ftp://host/x") == nil && AuditWebhook("hook") == nil)
        #expect(AuditWebhook("https://hooks.example.test/x") != nil)
    }
}
