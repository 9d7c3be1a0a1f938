import Foundation
import Testing
import TidemarkModel
import TidemarkServer

@testable import TidemarkHTTP

/// Damaged bodies and tokens: no answer reports a fault of the server, and no caller gets in.
///
/// Environment variables: `TIDEMARK_FUZZ_MESSAGES=100000`, `TIDEMARK_FUZZ_SEED=17`. The time limits
/// allow a million messages.
struct AccountFuzzTests {
    private let environment = ProcessInfo.processInfo.environment
    private var count: Int { environment["TIDEMARK_FUZZ_MESSAGES"].flatMap { Int($0) } ?? 1_500 }
    private var seed: UInt64 {
        environment["TIDEMARK_FUZZ_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    }

    private func server() async throws -> AccountsServer {
        var settings = AccountsSettings(.secure, project: "p")
        settings.passwords = .scrypt(logN: 1, blockSize: 1, parallelism: 1, keyBytes: 16)
        // The test checks the parsers, not the limits on attempts.
        settings.limits.address = .init(1_000_000_000, oneMoreEvery: .seconds(1))
        settings.limits.signUp = settings.limits.address
        return try await AccountsServer(settings)
    }

    private func ask(
        _ server: AccountsServer, _ path: String, _ body: Data, isForm: Bool = false
    ) async -> AccountsAnswer {
        var request = AccountsRequest()
        request.path = path
        request.apiKey = "any"
        request.isForm = isForm
        return await server.answer(request) { body.count > $0 ? nil : body }
    }

    /// Returns the token of a new account.
    private func signUp(_ server: AccountsServer) async throws -> String {
        let session = await ask(server, "/v1/accounts:signUp", Data())
        guard case .text(let token)? = session.body["idToken"] else {
            throw RPCStatus(.internal, "no token")
        }
        return token
    }

    private func damaged(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...5, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(place..<min(bytes.count, place + 9))
            case 2: bytes.insert(contentsOf: Array(#"{"[:,\u0000"#.utf8), at: place)
            default: bytes[place] ^= 1
            }
        }
        return bytes
    }

    // The time limit allows for `make long`, which sends a million bodies.
    @Test(.timeLimit(.minutes(60)))
    func `damaged bodies are answered`() async throws {
        let server = try await server()
        let seed = seed
        var random = SeededRandom(seed: seed)
        let token = try await signUp(server)
        let body = Array(
            """
            {"idToken": "\(token)", "email": "a@b.c", "password": "secret-1", "oobCode": "x",
            "postBody": "id_token=\(token)&providerId=apple.com", "token": "\(token)",
            "deleteAttribute": ["EMAIL"], "grant_type": "refresh_token", "refresh_token": "y",
            "phoneNumber": "+15550100", "sessionInfo": "z", "code": "123456", "temporaryProof": "p"}
            """.utf8)
        let paths = [
            "signUp", "signInWithPassword", "signInWithCustomToken", "signInWithIdp", "lookup",
            "update", "sendOobCode", "resetPassword", "createAuthUri", "signInWithEmailLink",
            "sendVerificationCode", "signInWithPhoneNumber",
        ]
        for number in 0..<count {
            let data = Data(damaged(body, &random))
            let path =
                number % 11 == 0
                ? "/v1/token" : "/v1/accounts:" + paths.randomElement(using: &random)!
            let answer = await ask(server, path, data, isForm: number % 7 == 0)
            #expect([200, 400, 403, 413].contains(answer.status), "seed \(seed), \(number)")
        }
        server.close()
    }

    // The time limit allows for `make long`, which sends a million tokens.
    @Test(.timeLimit(.minutes(60)))
    func `damaged tokens let nobody in`() async throws {
        let server = try await server()
        let seed = seed
        var random = SeededRandom(seed: seed)
        let token = try await signUp(server)
        let original = Array(token.utf8)
        for number in 0..<count {
            let text = String(decoding: damaged(original, &random), as: UTF8.self)
            let data = AccountsJSON.data(["idToken": .text(text)])
            let answer = await ask(server, "/v1/accounts:lookup", data)
            // The last letter of a signature contains bits that have no meaning.
            let isSame = text.utf8.dropLast().elementsEqual(original.dropLast())
            #expect(answer.status == 400 || isSame, "seed \(seed), \(number): \(text)")
        }
        server.close()
    }

    @Test(arguments: [("-", "+"), ("_", "/"), ("", "=")])
    func `a token has one spelling`(letter: String, other: String) async throws {
        let server = try await server()
        var token = ""
        while token.isEmpty || !(letter.isEmpty || token.contains(letter)) {
            token = try await signUp(server)
        }
        let spelled = letter.isEmpty ? token + other : token.replacing(letter, with: other)
        for (text, status) in [(token, 200), (spelled, 400)] {
            let data = AccountsJSON.data(["idToken": .text(text)])
            #expect(await ask(server, "/v1/accounts:lookup", data).status == status)
        }
        server.close()
    }
}
