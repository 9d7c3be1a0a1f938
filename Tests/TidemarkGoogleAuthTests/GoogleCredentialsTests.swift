import CryptoExtras
import Foundation
import HTTPTesting
import Hummingbird
import Synchronization
import Testing
import Tidemark
import TidemarkResilience

@testable import TidemarkGoogleAuth

/// Google's two token services, on a port of this machine.
private final class TokenMaker: Sendable {
    struct State {
        var asked = 0
        var assertions: [String] = []
        var scopes: [String] = []
        var status = HTTPResponse.Status.ok
        var body: String?
    }

    let state = Mutex(State())

    private func answer() -> Response {
        let (status, number, body) = state.withLock { state in
            state.asked += 1
            return (state.status, state.asked, state.body)
        }
        let text =
            body ?? #"{"access_token":"T\#(number)","expires_in":3600,"token_type":"Bearer"}"#
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// Serves while `body` runs, and passes HOST:PORT to `body`.
    func serve(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        let router = Router()
        router.post("/token") { [self] request, _ in
            let buffer = try await request.body.collect(upTo: 1 << 16)
            let fields = String(buffer: buffer).split(separator: "&").map(String.init)
            let assertion = fields.first { $0.hasPrefix("assertion=") }?.dropFirst(10)
            state.withLock { $0.assertions.append(String(assertion ?? "")) }
            return answer()
        }
        // This header distinguishes a metadata server from another machine at its address.
        router.get("/computeMetadata/v1") { _, _ in
            Response(status: .ok, headers: [.init("metadata-flavor")!: "Google"])
        }
        router.get("/computeMetadata/v1/**") { [self] request, _ in
            guard request.headers[.init("metadata-flavor")!] == "Google" else {
                return Response(status: .forbidden)
            }
            var reply: Response
            switch request.uri.path {
            case "/computeMetadata/v1/project/project-id":
                reply = Response(
                    status: .ok, body: .init(byteBuffer: ByteBuffer(string: "my-app")))
            case "/computeMetadata/v1/instance/service-accounts/default/token":
                let scope = request.uri.queryParameters["scopes"].map(String.init) ?? ""
                state.withLock { $0.scopes.append(scope) }
                reply = answer()
            default: reply = Response(status: .ok)
            }
            reply.headers[.init("metadata-flavor")!] = "Google"
            return reply
        }
        try await withServer(router, body)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Tokens of a service account` {
    private static let secret = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    private let maker = TokenMaker()

    private func keyFile(_ host: String, type: String = "service_account") throws -> [UInt8] {
        let secret = try #require(Self.secret)
        let fields = [
            "type": type, "project_id": "my-app", "private_key_id": "k1",
            "client_email": "backup@my-app.iam.gserviceaccount.com",
            "private_key": secret.pkcs8PEMRepresentation, "token_uri": "http://\(host)/token",
        ]
        return [UInt8](try JSONEncoder().encode(fields))
    }

    private func part(_ text: Substring) throws -> [String: Any] {
        var text = text.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        let data = try #require(Data(base64Encoded: text))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test func `are asked for with an assertion that its key has signed`() async throws {
        try await maker.serve { [self] host in
            let key = try ServiceAccountKey(json: try keyFile(host))
            let credentials = GoogleCredentials(
                .key(key), scopes: [GoogleCredentials.datastore], now: { 1_000_000 })
            #expect(try await credentials.token() == "T1")
            #expect(try await credentials.project() == "my-app")
            let assertion = try #require(maker.state.withLock { $0.assertions.first })
            let parts = assertion.split(separator: ".")
            try #require(parts.count == 3)
            #expect(try part(parts[0])["alg"] as? String == "RS256")
            #expect(try part(parts[0])["kid"] as? String == "k1")
            let claims = try part(parts[1])
            #expect(claims["iss"] as? String == key.email)
            #expect(claims["scope"] as? String == GoogleCredentials.datastore)
            #expect(claims["aud"] as? String == "http://\(host)/token")
            #expect(claims["exp"] as? Int == 1_003_600)
            var text = parts[2].replacingOccurrences(of: "-", with: "+")
                .replacingOccurrences(of: "_", with: "/")
            text += String(repeating: "=", count: (4 - text.count % 4) % 4)
            let signature = _RSA.Signing.RSASignature(
                rawRepresentation: try #require(Data(base64Encoded: text)))
            let isValid = Self.secret?.publicKey.isValidSignature(
                signature, for: Data("\(parts[0]).\(parts[1])".utf8), padding: .insecurePKCS1v1_5)
            #expect(isValid == true)
        }
    }

    @Test func `are kept until they run out, and shared by who asks at once`() async throws {
        try await maker.serve { [self] host in
            let time = Mutex<Int64>(0)
            let key = try ServiceAccountKey(json: try keyFile(host))
            let credentials = GoogleCredentials(.key(key), now: { time.withLock { $0 } })
            async let first = credentials.token()
            async let second = credentials.token()
            #expect(try await (first, second) == ("T1", "T1"))
            #expect(try await credentials.token() == "T1")
            time.withLock { $0 = 3_400 }
            #expect(try await credentials.token() == "T2", "it has 200 s left")
            #expect(try await credentials.token(replacing: "T2") == "T3", "it was refused")
            #expect(try await credentials.token(replacing: "T2") == "T3", "it was replaced already")
        }
    }

    @Test func `come from the metadata server where there is no key file`() async throws {
        try await maker.serve { [self] host in
            let credentials = try await GoogleCredentials.found(
                in: ["GCE_METADATA_HOST": host], within: .seconds(60))
            #expect(try await credentials.project() == "my-app")
            #expect(try await credentials.token() == "T1")
            #expect(
                maker.state.withLock {
                    $0.scopes.first?.hasSuffix("auth%2Fcloud-platform") == true
                        || $0.scopes.first == GoogleCredentials.cloudPlatform
                })
        }
    }

    @Test func `that are refused are not asked for again, and one in trouble is`() async throws {
        try await maker.serve { [self] host in
            var policy = GoogleCredentials.retryPolicy
            policy.delayScale = 0
            let key = try ServiceAccountKey(json: try keyFile(host))
            let credentials = GoogleCredentials(.key(key), retry: policy)
            maker.state.withLock {
                ($0.status, $0.body) = (.badRequest, #"{"error":"invalid_grant"}"#)
            }
            await #expect(throws: GoogleAuthError.refused("invalid_grant")) {
                try await credentials.token()
            }
            #expect(maker.state.withLock { $0.asked } == 1)
            maker.state.withLock { $0.status = .serviceUnavailable }
            await #expect(throws: GoogleAuthError.unreachable("status 503")) {
                try await credentials.token()
            }
            #expect(maker.state.withLock { $0.asked } == 5, "four attempts")
        }
    }

    @Test func `need a key that is one`() async throws {
        #expect(throws: GoogleAuthError.self) { try ServiceAccountKey(json: Array("{".utf8)) }
        #expect(throws: GoogleAuthError.self) {
            try ServiceAccountKey(json: try keyFile("h", type: "authorized_user"))
        }
        await #expect(throws: GoogleAuthError.badKey("It cannot be read.")) {
            try await GoogleCredentials.found(in: ["GOOGLE_APPLICATION_CREDENTIALS": "/nowhere"])
        }
        await #expect(throws: GoogleAuthError.noCredentials) {
            try await GoogleCredentials.found(in: ["GCE_METADATA_HOST": "127.0.0.1:1"])
        }
    }

    @Test func `go with every call of a client`() async throws {
        try await maker.serve { host in
            let credentials = try await GoogleCredentials.found(
                in: ["GCE_METADATA_HOST": host], within: .seconds(60))
            let settings = FirestoreSettings()
            settings.tokenProvider = IDTokens { refused in
                try await credentials.token(replacing: refused)
            }
            let provider = try #require(settings.tokenProvider)
            #expect(try await provider.token() == "T1")
            #expect(try await provider.token(replacing: "T1") == "T2")
        }
    }
}
