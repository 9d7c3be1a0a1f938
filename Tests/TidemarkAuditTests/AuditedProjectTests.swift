import Foundation
import Testing
import Tidemark
import TidemarkAudit
import TidemarkTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Uses the public API of the products alone, as a program of an adopter does.
@Suite(.timeLimit(.minutes(2))) struct `An audit of an adopter` {
    private func makeAccounts(_ ids: [String], _ host: String) async throws {
        let users = ids.map { #"{"localId": "\#($0)", "createdAt": "1600000000000"}"# }
        let url = URL(string: "http://\(host)/v1/projects/local/accounts:batchCreate")
        var request = URLRequest(url: try #require(url))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "content-type")
        request.setValue("Bearer owner", forHTTPHeaderField: "authorization")
        request.httpBody = Data(#"{"users": [\#(users.joined(separator: ","))]}"#.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        try #require((response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test func `finds both kinds, and writes the report`() async throws {
        let local = try LocalFirestore.start()
        let accounts = try await LocalAccounts.start(beside: local)
        let socket = try await local.serve()
        try await makeAccounts(["ann", "bea"], accounts.host)
        let writer = try local.firestore(label: "writer", token: "owner")
        try await writer.document("people/bea").setData(["name": "Bea"])
        try await writer.document("people/eve").setData(["name": "Eve"])

        let project = try AuditedProject(
            local.projectID, at: .local(firestore: socket.host, accounts: accounts.host)
        ) { _ in "owner" }
        let report = try await project.audit(
            profiles: "people", report: "admin/orphanedUsers"
        ).run()
        #expect(report.accountsWithoutProfile.ids == ["ann"])
        #expect(report.profilesWithoutAccount.ids == ["eve"])
        let written = try await writer.document("admin/orphanedUsers").getDocument(source: .server)
        #expect(written.data()?["userIds"] as? [String] == ["ann"])
        await project.close()
        await accounts.stop()
        await local.stop()
    }

    @Test(arguments: ["127.0.0.1", ":80", "a:0", "a:b", "a:70000"])
    func `needs addresses with a port`(host: String) {
        #expect(throws: AuditError.self) {
            try AuditedProject("p", at: .local(firestore: host, accounts: "127.0.0.1:1")) { _ in ""
            }
        }
        #expect(throws: AuditError.self) {
            try AuditedProject("p", at: .local(firestore: "127.0.0.1:1", accounts: host)) { _ in ""
            }
        }
    }

    @Test func `says which name is no path`() throws {
        let project = try AuditedProject("my-app") { _ in "owner" }
        #expect(throws: AuditError.self) { try project.audit(profiles: "a/b") }
        #expect(throws: AuditError.self) { try project.audit(report: "admin") }
        #expect(throws: AuditError.self) { try AuditedProject("") { _ in "" }.audit() }
    }
}
