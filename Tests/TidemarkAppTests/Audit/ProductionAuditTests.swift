import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization
import Testing
import TidemarkAudit
import TidemarkGoogleAuth
import TidemarkHTTP
import TidemarkModel
import TidemarkServer
import TidemarkSimulation
import TidemarkTesting
import TidemarkWire

/// The audit as it meets production: TLS on both sides, Google's paths, a service account's token that a
/// metadata server gives, and nobody else's.
@Suite(.timeLimit(.minutes(20))) struct `An audit of production` {
    private static let project = "my-app"
    private static let token = "ya29.service-account"

    /// A metadata server, and a chat's webhook, on a port of this machine.
    private final class SideServers: Sendable {
        let posts = Mutex<[String]>([])

        func serve(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
            let router = Router()
            router.get("/computeMetadata/v1") { _, _ in
                Response(status: .ok, headers: [.init("metadata-flavor")!: "Google"])
            }
            router.get("/computeMetadata/v1/**") { request, _ in
                let isToken = request.uri.path.hasSuffix("/token")
                let text =
                    isToken
                    ? #"{"access_token":"\#(token)","expires_in":3599,"token_type":"Bearer"}"#
                    : project
                return Response(
                    status: .ok, headers: [.init("metadata-flavor")!: "Google"],
                    body: .init(byteBuffer: ByteBuffer(string: text)))
            }
            router.post("/hook") { [self] request, _ in
                let text = String(buffer: try await request.body.collect(upTo: 1 << 20))
                let isFirst = posts.withLock { posts in
                    posts.append(text)
                    return posts.count == 1
                }
                return Response(status: isFirst ? .serviceUnavailable : .ok)
            }
            try await withServer(router, body)
        }
    }

    /// Two services over TLS, as `firestore.googleapis.com` and `identitytoolkit.googleapis.com` are.
    private struct Google {
        let local: LocalFirestore
        let accounts: LocalAccounts
        let firestoreTLS: PlacedServer
        let accountsTLS: PlacedServer
        let transport: GRPCTransport
        let client: HTTPClient

        init() async throws {
            local = try LocalFirestore.start(projectID: project)
            accounts = try await LocalAccounts.start(
                beside: local, mode: .secure, administrator: AccessToken(token))
            let port = try await local.serve(callers: accounts.callers).port
            let known = TestCertificate.Authority(name: "A known authority")
            let certificate = TestCertificate(hosts: ["localhost"], by: known)
            firestoreTLS = try await PlacedServer.start(.of(port: port), tls: certificate)
            accountsTLS = try await PlacedServer.start(.of(port: accounts.port), tls: certificate)
            let authority = known.certificate.pem
            transport = GRPCTransport(
                GRPCTransport.Endpoint(
                    host: "localhost", port: firestoreTLS.port, usesTLS: true,
                    authorities: [authority]))
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates([
                try NIOSSLCertificate(bytes: authority, format: .pem)
            ])
            var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
            configuration.httpVersion = .http1Only
            client = HTTPClient(
                eventLoopGroupProvider: .singleton, configuration: configuration)
        }

        var base: String { "https://localhost:\(accountsTLS.port)" }

        func make(_ ids: [String]) async throws {
            let users = ids.map { #"{"localId": "\#($0)", "createdAt": "1600000000000"}"# }
            var request = HTTPClientRequest(
                url: "\(base)/v1/projects/\(project)/accounts:batchCreate")
            request.method = .POST
            request.headers.add(name: "authorization", value: "Bearer \(token)")
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(
                ByteBuffer(string: #"{"users": [\#(users.joined(separator: ","))]}"#))
            let response = try await client.execute(request, timeout: .seconds(20))
            try #require(response.status == .ok)
        }

        func audit(_ tokens: @escaping AccountDirectory.Tokens) throws -> OrphanAudit {
            let local = local
            return OrphanAudit(
                accounts: AccountDirectory(
                    project: project, base: base, client: client, tokens: tokens),
                profiles: ProfileDirectory(
                    transport, database: try DatabaseID(project: project),
                    collection: try CollectionPath("users"), tokens: tokens),
                report: try DocumentPath("admin/orphanedUsers"), now: { local.now })
        }

        func document(_ path: String) async throws -> Document? {
            let context = CallContext(
                database: try DatabaseID(project: project), token: token)
            let replies = try await transport.replies(
                to: .batchGetDocuments(
                    BatchGetDocumentsRequest(paths: [try DocumentPath(path)])), context)
            guard case .batchGetDocuments(let reply)? = replies.first,
                case .found(let document)? = reply.row
            else { return nil }
            return document
        }

        func stop() async throws {
            await transport.close()
            try await client.shutdown()
            await firestoreTLS.stop()
            await accountsTLS.stop()
            await accounts.stop()
            await local.stop()
        }
    }

    @Test func `goes over TLS, as a service account, and can make profiles`() async throws {
        let google = try await Google()
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
        let google = try await Google()
        try await google.make(["ann"])
        let strangers = try google.audit { _ in "a stranger's" }
        await #expect(throws: (any Error).self) { try await strangers.run() }
        // Of the accounts' calls: what they refuse is asked for again with a new one.
        let asked = Mutex(0)
        let audit = OrphanAudit(
            accounts: AccountDirectory(
                project: Self.project, base: google.base, client: google.client,
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

    @Test func `posts to an address of the web alone`() {
        #expect(AuditWebhook("ftp://host/x") == nil && AuditWebhook("hook") == nil)
        #expect(AuditWebhook("https://hooks.example.test/x") != nil)
    }
}
