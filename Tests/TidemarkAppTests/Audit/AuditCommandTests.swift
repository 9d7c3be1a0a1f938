import ArgumentParser
import CryptoExtras
import Foundation
import Synchronization
import Testing
import TidemarkAudit
import TidemarkModel
import TidemarkWire

@testable import TidemarkCLI

/// Tests `tidemark audit orphans` without a host. The test replaces Google's services.
@Suite(.timeLimit(.minutes(2))) struct `The command that audits` {
    private static let secret = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    private let folder = TestFolder()

    /// Writes a key file in the format of Google's console, and returns its path.
    private static func keyFile(_ host: String, in folder: String) throws -> String {
        let secret = try #require(secret)
        let fields = [
            "type": "service_account", "project_id": PlacedGoogle.project,
            "private_key_id": "k1", "private_key": secret.pkcs8PEMRepresentation,
            "client_email": "audit@my-app.iam.gserviceaccount.com",
            "token_uri": "http://\(host)/token",
        ]
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/key.json"
        try JSONEncoder().encode(fields).write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func place(
        _ google: PlacedGoogle, _ environment: [String: String], project: String? = nil
    ) async throws -> AuditPlace {
        try await AuditPlace(
            host: nil, accountsHost: nil, project: project, environment: environment, token: nil,
            cloud: AuditPlace.Services(
                firestore: google.endpoint, accounts: google.base))
    }

    private struct Output: Decodable, Equatable {
        var count: Int
        var userIds: [String]
        var detectedAt: String
        var orphans: Int
        var repaired: Int
    }

    private static func output(_ report: OrphanReport) throws -> Output {
        try JSONDecoder().decode(
            Output.self, from: Data(AuditOrphansCommand.json(report).utf8))
    }

    @Test func `goes by the key file that the environment names, to both services`()
        async throws
    {
        let google = try await PlacedGoogle()
        let helpers = SideServers()
        try await google.make(["ann", "bea"])
        try await helpers.serve { [folder = folder.path] host in
            let place = try await Self.place(
                google, ["GOOGLE_APPLICATION_CREDENTIALS": try Self.keyFile(host, in: folder)])
            #expect(place.project == PlacedGoogle.project, "the key file's own")
            let command = try AuditOrphansCommand.parse([
                "--webhook", "http://\(host)/hook", "--grace", "0",
            ])
            let transport = GRPCTransport(place.firestore)
            let audit = try command.audit(place, transport)
            var report = try await audit.run(repair: .writeProfiles)
            #expect(report.accountsWithoutProfile.ids == ["ann", "bea"])
            let assertions = helpers.assertions.withLock { $0 }
            #expect(assertions.count == 1 && assertions[0].contains("assertion="))
            let fields = try await google.document("admin/orphanedUsers")?.fields
            #expect(fields?["count"] == .integer(2))
            #expect(fields?["userIds"] == .array([.string("ann"), .string("bea")]))

            let time = Date(timeIntervalSince1970: Double(report.detectedAt.seconds))
            let wanted = Output(
                count: 2, userIds: ["ann", "bea"],
                detectedAt: ISO8601DateFormatter().string(from: time), orphans: 2, repaired: 2)
            #expect(try Self.output(report) == wanted)
            await command.post(report)
            let posts = helpers.posts.withLock { $0 }
            #expect(posts.last?.contains(#""userIds":["ann","bea"]"#) == true)

            report = try await audit.run()
            #expect(try Self.output(report).count == 0 && Self.output(report).orphans == 0)
            await command.post(report)
            #expect(helpers.posts.withLock { $0 } == posts, "nothing was found")
            await transport.close()
        }
        try await google.stop()
    }

    @Test func `goes by the machine's own account where no key file is named`() async throws {
        let google = try await PlacedGoogle()
        let helpers = SideServers()
        try await google.make(["ann"])
        try await helpers.serve { host in
            let place = try await Self.place(google, ["GCE_METADATA_HOST": host])
            #expect(place.project == PlacedGoogle.project, "the machine's own")
            let command = try AuditOrphansCommand.parse([])
            let transport = GRPCTransport(place.firestore)
            let report = try await command.audit(place, transport).run()
            #expect(report.accountsWithoutProfile.ids == ["ann"])
            #expect(helpers.assertions.withLock { $0.isEmpty })
            await transport.close()
        }
        try await google.stop()
    }

    @Test func `says what is wrong with the place that it is given`() async throws {
        let nowhere = folder.path + "/none.json"
        func fault(
            _ environment: [String: String], host: String? = nil, token: String? = nil
        ) async -> String {
            do {
                _ = try await AuditPlace(
                    host: host, accountsHost: nil, project: nil, environment: environment,
                    token: token)
                return "none"
            } catch { return "\(error)" }
        }
        #expect(
            await fault(["GOOGLE_APPLICATION_CREDENTIALS": nowhere]).contains("cannot be read"))
        #expect(await fault([:], token: "ya29").contains("--project"), "a token names no project")
        #expect(
            await fault(["FIRESTORE_EMULATOR_HOST": "127.0.0.1:1"]).contains("--accounts-host"))
        #expect(
            await fault(["FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:1"]).contains("--host"))
    }

    @Test func `is local where the environment names an emulator's hosts`() async throws {
        let place = try await AuditPlace(
            host: nil, accountsHost: nil, project: nil,
            environment: [
                "FIRESTORE_EMULATOR_HOST": "127.0.0.1:8080",
                "FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:9099",
                // This file means nothing to a local server and is not sent to one.
                "GOOGLE_APPLICATION_CREDENTIALS": folder.path + "/none.json",
            ], token: nil)
        #expect(!place.firestore.usesTLS && place.firestore.port == 8080)
        #expect(place.project == "demo")
        #expect(try await place.tokens(nil) == "owner")
    }
}
