import AsyncHTTPClient
import HTTPTesting
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization
import Testing
import TidemarkAudit
import TidemarkModel
import TidemarkServer
import TidemarkTesting
import TidemarkWire

/// Serves a metadata server, a token endpoint for keys, and a chat's webhook on one local port.
final class SideServers: Sendable {
    let posts = Mutex<[String]>([])
    /// The bodies of the requests for a token of a key.
    let assertions = Mutex<[String]>([])

    private static var token: Response {
        let text = #"{"access_token":"\#(PlacedGoogle.token)","expires_in":3599}"#
        return Response(
            status: .ok, headers: [.init("metadata-flavor")!: "Google"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    func serve(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        let router = Router()
        router.get("/computeMetadata/v1") { _, _ in
            Response(status: .ok, headers: [.init("metadata-flavor")!: "Google"])
        }
        router.get("/computeMetadata/v1/**") { request, _ in
            if request.uri.path.hasSuffix("/token") { return Self.token }
            return Response(
                status: .ok, headers: [.init("metadata-flavor")!: "Google"],
                body: .init(byteBuffer: ByteBuffer(string: PlacedGoogle.project)))
        }
        router.post("/token") { [self] request, _ in
            let text = String(buffer: try await request.body.collect(upTo: 1 << 16))
            assertions.withLock { $0.append(text) }
            return Self.token
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

/// Two services over TLS, in place of `firestore.googleapis.com` and
/// `identitytoolkit.googleapis.com`.
struct PlacedGoogle {
    static let project = "my-app"
    static let token = "ya29.service-account"

    let local: LocalFirestore
    let accounts: LocalAccounts
    let firestoreTLS: PlacedServer
    let accountsTLS: PlacedServer
    let endpoint: GRPCTransport.Endpoint
    let transport: GRPCTransport
    let client: HTTPClient

    init() async throws {
        local = try LocalFirestore.start(projectID: Self.project)
        accounts = try await LocalAccounts.start(
            beside: local, mode: .secure, administrator: AccessToken(Self.token))
        let port = try await local.serve(callers: accounts.callers).port
        let known = TestCertificate.Authority(name: "A known authority")
        let certificate = TestCertificate(hosts: ["localhost"], by: known)
        firestoreTLS = try await PlacedServer.start(.of(port: port), tls: certificate)
        accountsTLS = try await PlacedServer.start(.of(port: accounts.port), tls: certificate)
        let authority = known.certificate.pem
        endpoint = GRPCTransport.Endpoint(
            host: "localhost", port: firestoreTLS.port, usesTLS: true, authorities: [authority])
        transport = GRPCTransport(endpoint)
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
            url: "\(base)/v1/projects/\(Self.project)/accounts:batchCreate")
        request.method = .POST
        request.headers.add(name: "authorization", value: "Bearer \(Self.token)")
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
                project: Self.project, base: base, client: client, tokens: tokens),
            profiles: ProfileDirectory(
                transport, database: try DatabaseID(project: Self.project),
                collection: try CollectionPath("users"), tokens: tokens),
            report: try DocumentPath("admin/orphanedUsers"), now: { local.now })
    }

    func document(_ path: String) async throws -> Document? {
        let context = CallContext(
            database: try DatabaseID(project: Self.project), token: Self.token)
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
