import HTTPTesting
import Hummingbird
import NIOCore
import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// An accounts server over HTTP that records the App Check token of each call.
private final class AttestedAccounts: Sendable {
    struct Call: Equatable {
        let name: String
        let attested: String?
    }

    private let accounts = ScriptedAccounts()
    private let seen = Mutex<[Call]>([])

    var calls: [Call] { seen.withLock { $0 } }

    /// Runs `body` with HOST:PORT while the server runs.
    func serve(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        let router = Router()
        router.post("/**") { [self] request, _ in
            let path = request.uri.path
            let name = String(path.split(separator: "/").last ?? "")
            let attested = request.headers[.init("X-Firebase-AppCheck")!]
            seen.withLock { $0.append(Call(name: name, attested: attested)) }
            let bytes = try await request.body.collect(upTo: 1 << 20)
            let reply = try await accounts.send(
                AccountsRequest(
                    .accounts, path, body: Array(bytes.readableBytesView), timeout: .seconds(60)))
            return Response(
                status: .init(code: reply.status), headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: reply.body)))
        }
        try await withServer(router, body)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `App Check's token` {
    private struct NotAttested: Error {}

    private let server = AttestedAccounts()

    private func accounts(_ host: String, _ appCheck: (any TokenProvider)?) -> Accounts {
        Accounts(
            HTTPAccountsTransport(.local(host), appCheck: appCheck), store: ScriptedStore())
    }

    @Test func `travels with every call about accounts`() async throws {
        try await server.serve { [self] host in
            let accounts = accounts(host, IDTokens { _ in "attested" })
            try await accounts.signUp(email: "ada@b.c", password: "correct horse")
            let token = try #require(try await accounts.token())
            #expect(try await accounts.token(replacing: token) != token)
            let calls = ["accounts:signUp", "token"].map {
                AttestedAccounts.Call(name: $0, attested: "attested")
            }
            #expect(server.calls == calls)
        }
    }

    @Test func `is left out where an app has none, or cannot be attested`() async throws {
        let providers: [(any TokenProvider)?] = [
            nil, IDTokens { _ in nil }, IDTokens { _ in throw NotAttested() },
        ]
        try await server.serve { [self] host in
            for (number, provider) in providers.enumerated() {
                let accounts = accounts(host, provider)
                try await accounts.signUp(email: "\(number)@b.c", password: "correct horse")
                #expect(accounts.user != nil)
            }
            let call = AttestedAccounts.Call(name: "accounts:signUp", attested: nil)
            #expect(server.calls == [call, call, call])
        }
    }

    @Test func `of a stack goes to both, beside the token of who is signed in`() async throws {
        try await server.serve { [self] host in
            let world = try await StackWorld()
            let recorded = RecordedTransport(world.local.server)
            let served = try await ServedTransport(recorded)
            let stack = try world.stack { settings in
                settings.identity = .accounts(.local(host))
                settings.firestore.host = "127.0.0.1:\(served.port)"
                settings.appCheck = IDTokens { _ in "attested" }
            }
            await stack.identity.load()
            try await stack.accounts?.signUp(email: "ada@b.c", password: "correct horse")
            let token = try #require(try await stack.identity.token())
            let room = stack.firestore.document("rooms/blue")
            try await room.setData(["n": 1])
            #expect(try await room.getDocument(source: .server).exists)
            let listener = room.addSnapshotListener { _, _ in }
            try await until("a stream listens") { !recorded.listens.isEmpty }
            listener.remove()
            let contexts = [recorded.calls, recorded.writes, recorded.listens]
            for contexts in contexts {
                #expect(!contexts.isEmpty)
                #expect(contexts.allSatisfy { $0.appCheckToken == "attested" })
                #expect(contexts.allSatisfy { $0.token == token })
            }
            #expect(server.calls.map(\.attested) == ["attested"])
            await stack.close()
            await served.stop()
            await world.stop()
        }
    }
}
