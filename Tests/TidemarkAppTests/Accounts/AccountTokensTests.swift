import Foundation
import Synchronization
import Testing
import Tidemark
import TidemarkResilience
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Tests a device's accounts and Firestore over sockets, against servers that sign their tokens.
/// The test moves the time.
struct `Tokens over sockets` {
    private static let administrator = "administrators-token"

    /// Trusts the callers that the accounts server trusts, until `shut()`. Records all calls.
    private final class Gate: CallerGate {
        private struct State {
            var isShut = false
            var calls: [(method: String, token: String?)] = []
        }

        private let state = Mutex(State())
        private let accounts: any CallerGate

        init(_ accounts: any CallerGate) { self.accounts = accounts }

        func shut() { state.withLock { $0.isShut = true } }
        func forget() { state.withLock { $0.calls = [] } }
        var methods: [String] { state.withLock { $0.calls.map(\.method) } }
        var tokens: [String?] { state.withLock { $0.calls.map(\.token) } }

        func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller {
            let isShut = state.withLock { state in
                state.calls.append((method, token))
                return state.isShut
            }
            if isShut { throw RPCStatus(.unauthenticated, "Nobody is believed here.") }
            return try await accounts.caller(token, method: method)
        }
    }

    /// Sends requests over HTTP, as an app does, and records their paths.
    private final class Noted: AccountsTransport {
        private let http: HTTPAccountsTransport
        private let asked = Mutex<[String]>([])

        init(_ host: String) { http = HTTPAccountsTransport(.local(host)) }

        var refreshes: Int { asked.withLock { $0.filter { $0 == "v1/token" }.count } }

        func send(
            _ request: AccountsRequest
        ) async throws(AccountsUnreachable) -> AccountsReply {
            asked.withLock { $0.append(request.path) }
            return try await http.send(request)
        }
    }

    /// The number of seconds by which a device's clock is behind the server's.
    private final class Lag: Sendable {
        private let value = Mutex<Int64>(0)
        var seconds: Int64 { value.withLock { $0 } }
        func be(_ seconds: Int64) { value.withLock { $0 = seconds } }
    }

    private final class World: Sendable {
        let local: LocalFirestore
        let server: LocalAccounts
        let port: Int
        let gate: Gate
        let http: Noted
        let accounts: Accounts
        let firestore: Firestore
        let lag = Lag()

        init() async throws {
            local = try LocalFirestore.start()
            server = try await LocalAccounts.start(
                beside: local, mode: .secure, administrator: AccessToken(administrator))
            gate = Gate(server.callers)
            let socket = try await local.serve(callers: gate)
            port = socket.port
            http = Noted(server.host)
            let lag = lag
            // These tests do not test deadlines, and a busy machine must not reach them.
            var retry = Accounts.refreshPolicy
            (retry.delayScale, retry.attemptTimeout) = (0, .seconds(100))
            accounts = Accounts(
                http, store: ScriptedStore(), installation: "here", retry: retry,
                now: { [local] in local.now.seconds - lag.seconds })
            let settings = FirestoreSettings(
                host: socket.host, isSSLEnabled: false, cache: .memory, readDeadline: nil)
            settings.tokenProvider = accounts
            firestore = try Firestore(projectID: "local", settings: settings)
            accounts.attach(firestore)
            await accounts.load()
        }

        func stop() async {
            await firestore.terminate()
            await server.stop()
            await local.stop()
        }

        func administer(_ action: String, _ fields: String) async throws {
            var request = URLRequest(
                url: try #require(
                    URL(string: "http://\(server.host)/v1/projects/local/accounts:\(action)")))
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "content-type")
            request.setValue("Bearer \(administrator)", forHTTPHeaderField: "authorization")
            request.httpBody = Data(fields.utf8)
            let (data, response) = try await URLSession.shared.data(for: request)
            let status = (response as? HTTPURLResponse)?.statusCode
            try #require(status == 200, "\(String(decoding: data, as: UTF8.self))")
        }

        /// Returns the error of a read from the server; nil if the read succeeds.
        func readError() async -> FirestoreError? {
            do throws(FirestoreError) {
                _ = try await firestore.document("c/d").getDocument(source: .server)
                return nil
            } catch { return error }
        }
    }

    @Test(.timeLimit(.minutes(2))) func `go with every call of whoever is signed in`() async throws
    {
        let world = try await World()
        #expect(await world.readError()?.code == .unauthenticated, "nobody is signed in")
        try await world.accounts.signUp(email: "a@b.c", password: "secret")
        let token = try await world.accounts.token()
        world.gate.forget()
        let collection = world.firestore.collection("c")
        try await collection.document("d").setData(["n": 1])
        #expect(await world.readError() == nil)
        #expect(try await collection.getDocuments(source: .server).count == 1)
        let count = try await collection.count.getAggregation(source: .server)
        #expect(count.count == 1)
        try await world.firestore.runTransaction { transaction in
            let document = collection.document("d")
            _ = try await transaction.getDocument(document)
            transaction.updateData(["n": 2], forDocument: document)
        }
        for try await snapshot in collection.document("d").snapshots
        where !snapshot.metadata.isFromCache {
            break
        }
        let methods = Set(world.gate.methods)
        #expect(methods.isSuperset(of: ["Write", "Listen", "RunAggregationQuery", "Commit"]))
        #expect(world.gate.tokens.allSatisfy { $0 == token }, "\(world.gate.methods)")
        #expect(world.http.refreshes == 0)
        await world.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `are renewed before they run out, and without a refusal`() async throws {
        let world = try await World()
        try await world.accounts.signUp(email: "a@b.c", password: "secret")
        #expect(await world.readError() == nil)
        world.local.advance(by: .seconds(3_590))
        world.gate.forget()
        #expect(await world.readError() == nil)
        #expect(world.gate.methods.count == 1 && world.http.refreshes == 1)
        await world.stop()
    }

    /// The device's clock is an hour behind, so the device considers its token valid.
    @Test(.timeLimit(.minutes(2)))
    func `that a server refuses are renewed once, and the call is made again`() async throws {
        let world = try await World()
        try await world.accounts.signUp(email: "a@b.c", password: "secret")
        let old = try await world.accounts.token()
        world.local.advance(by: .seconds(3_700))
        world.lag.be(3_700)
        world.gate.forget()
        #expect(await world.readError() == nil)
        #expect(world.gate.tokens.count == 2 && world.gate.tokens.first == old)
        #expect(world.http.refreshes == 1)
        // Calls that were refused at the same time share the next refresh.
        world.local.advance(by: .seconds(3_700))
        world.lag.be(7_400)
        let errors = await withTaskGroup(of: FirestoreError?.self) { group in
            for _ in 0..<8 { group.addTask { await world.readError() } }
            return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
        }
        #expect(errors.isEmpty && world.http.refreshes == 2)
        await world.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `that are refused a second time end the call, and nobody asks for ever`() async throws {
        let world = try await World()
        let user = try await world.accounts.signUp(email: "a@b.c", password: "secret")
        world.gate.shut()
        world.gate.forget()
        let error = await world.readError()
        #expect(error?.code == .unauthenticated && error?.recovery == .signIn)
        #expect(world.gate.methods.count == 2, "\(world.gate.methods)")
        #expect(Set(world.gate.tokens).count == 2 && world.http.refreshes == 1)
        var doctor = Doctor(
            DiagnosisTarget(
                host: "127.0.0.1", port: world.port, usesTLS: false, project: "local"))
        doctor.tokens = world.accounts
        doctor.stepTime = .seconds(60)
        let report = try await doctor.diagnose(after: .zero)
        #expect(report.verdict == .credentials, "\(report.steps)")
        #expect(report.steps.last?.detail == "unauthenticated: Nobody is believed here.")
        // The accounts server renews the token, so the refusal by another server does not end the
        // session.
        #expect(world.accounts.state == .signedIn(user))
        await world.stop()
    }

    enum End: String, CaseIterable, Sendable { case revoked, disabled, deleted }

    /// The session ends, and a refresh fails too. The queued write stays, and after a new sign-in
    /// it is sent.
    @Test(.timeLimit(.minutes(2)), arguments: End.allCases)
    func `of a session that is over leave nobody signed in, and what was written waits`(
        end: End
    ) async throws {
        let world = try await World()
        let user = try await world.accounts.signUp(email: "a@b.c", password: "secret")
        var changes = world.accounts.changes.makeAsyncIterator()
        world.local.advance(by: .seconds(10))
        let id = #""localId": "\#(user.text)""#
        switch end {
        case .revoked:
            let now = world.local.now.seconds
            try await world.administer("update", #"{\#(id), "validSince": "\#(now)"}"#)
        case .disabled:
            try await world.administer("update", #"{\#(id), "disableUser": true}"#)
        case .deleted: try await world.administer("delete", "{\(id)}")
        }
        let document = world.firestore.document("c/d")
        _ = try await document.enqueueSetData(["kept": true])
        // The read is refused, or it ends because the sign-out that follows changes the user.
        let code = try #require(await world.readError()?.code)
        #expect(code == .unauthenticated || code == .cancelled)
        #expect(await changes.next() == .signedOut(.expired))
        #expect(world.accounts.state == .signedOut(.expired) && world.http.refreshes == 1)
        #expect(await world.readError()?.code == .unauthenticated)

        // A new sign-in of the same user sends the write.
        guard end == .revoked else { return await world.stop() }
        #expect(try await world.accounts.signIn(email: "a@b.c", password: "secret") == user)
        try await world.firestore.waitForPendingWrites()
        let kept = try await document.getDocument(source: .server)
        #expect(kept["kept"] as? Bool == true, "what was written before is sent now")
        await world.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `that cannot be renewed while nobody answers end no session`() async throws {
        let world = try await World()
        let user = try await world.accounts.signUp(email: "a@b.c", password: "secret")
        await world.server.stop()
        world.gate.shut()
        #expect(await world.readError()?.recovery == .waitForNetwork)
        #expect(world.accounts.state == .signedIn(user))
        await world.firestore.terminate()
        await world.local.stop()
    }
}
