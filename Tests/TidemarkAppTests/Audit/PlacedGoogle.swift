import HTTPTesting
import Hummingbird
import NIOCore
import Synchronization
import Testing
import TidemarkAudit
import TidemarkHTTPClient
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
            // The length of an answer does not matter: a report is not posted again.
            let page = ByteBuffer(repeating: UInt8(ascii: "a"), count: 4 << 20)
            return Response(
                status: isFirst ? .serviceUnavailable : .ok, body: .init(byteBuffer: page))
        }
        try await withServer(router, body)
    }
}

extension LocalAccounts {
    private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(60))

    /// Makes accounts as an administrator, with ids alone.
    func make(_ ids: [String], project: String, token: String) async throws {
        let users = ids.map { #"{"localId": "\#($0)", "createdAt": "1600000000000"}"# }
        let request = TidemarkHTTPClient.HTTPRequest(
            "POST", "http://\(host)/v1/projects/\(project)/accounts:batchCreate",
            fields: [
                ("authorization", "Bearer \(token)"), ("content-type", "application/json"),
            ],
            body: Array(#"{"users": [\#(users.joined(separator: ","))]}"#.utf8))
        let answer = try await Self.session.answer(to: request, upTo: 1 << 20)
        try #require(answer.status == 200)
    }
}

/// Two services in place of `firestore.googleapis.com`, over TLS, and of
/// `identitytoolkit.googleapis.com`, over HTTP. The second also answers over TLS, with a
/// certificate that URLSession refuses: on Linux it knows the authorities of the system alone.
struct PlacedGoogle {
    static let project = "my-app"
    static let token = "ya29.service-account"

    let local: LocalFirestore
    let accounts: LocalAccounts
    let firestoreTLS: PlacedServer
    let accountsTLS: PlacedServer
    let endpoint: GRPCTransport.Endpoint
    let transport: GRPCTransport

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
    }

    var base: String { "http://\(accounts.host)" }
    var baseOverTLS: String { "https://localhost:\(accountsTLS.port)" }

    func make(_ ids: [String]) async throws {
        try await accounts.make(ids, project: Self.project, token: Self.token)
    }

    func audit(
        base: String? = nil, _ tokens: @escaping AccountDirectory.Tokens
    ) throws -> OrphanAudit {
        let local = local
        return OrphanAudit(
            accounts: AccountDirectory(
                project: Self.project, base: base ?? self.base, tokens: tokens),
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
        await firestoreTLS.stop()
        await accountsTLS.stop()
        await accounts.stop()
        await local.stop()
    }
}
