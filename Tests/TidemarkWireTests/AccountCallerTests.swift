import Foundation
import Testing
import TidemarkModel
import TidemarkServer
import TidemarkTesting
import TidemarkWire

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Firestore asks for the tokens of accounts, in a time that a test moves.
struct AccountCallerTests {
    /// A Firestore and accounts beside it, where tokens are signed.
    private struct World {
        let local: LocalFirestore
        let accounts: LocalAccounts
        let transport: GRPCTransport

        init() async throws {
            local = try LocalFirestore.start()
            accounts = try await LocalAccounts.start(
                beside: local, mode: .secure, administrator: AccessToken("administrator"))
            let socket = try await local.serve(callers: accounts.callers)
            transport = GRPCTransport(
                GRPCTransport.Endpoint(host: "127.0.0.1", port: socket.port, usesTLS: false))
        }

        func stop() async {
            await transport.close()
            await accounts.stop()
            await local.stop()
        }

        func post(
            _ path: String, _ body: [String: String], admin: Bool = false
        ) async throws -> [String: String] {
            var request = URLRequest(
                url: try #require(URL(string: "http://\(accounts.host)\(path)?key=any")))
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "content-type")
            request.httpBody = try JSONEncoder().encode(body)
            if admin {
                request.setValue("Bearer administrator", forHTTPHeaderField: "authorization")
            }
            let (data, _) = try await URLSession.shared.data(for: request)
            let reply = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            return reply.compactMapValues { $0 as? String }
        }

        /// What a read is answered with a token.
        func read(_ token: String?, project: String = "local") async throws -> RPCStatus {
            let database = try DatabaseID(project: project)
            let query = Request.runQuery(RunQueryRequest(query: Query(collectionID: "c")))
            do throws(RPCStatus) {
                _ = try await transport.replies(
                    to: query, CallContext(database: database, token: token))
                return .ok
            } catch { return error }
        }

        func listen(_ token: String?) async throws -> RPCStatus {
            let (ends, sink) = AsyncStream.makeStream(of: RPCStatus.self)
            let context = CallContext(database: try DatabaseID(project: "local"), token: token)
            let stream = transport.listen(context) { event in
                if case .ended(let status) = event { sink.yield(status) }
            }
            stream.send(.remove(targetID: 1))
            stream.finish()
            for await status in ends { return status }
            return .ok
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a token is good for its hour and a refresh for the next`() async throws {
        let world = try await World()
        let session = try await world.post("/v1/accounts:signUp", [:])
        let token = try #require(session["idToken"])
        #expect(try await world.read(token) == .ok)
        #expect(try await world.listen(token).code == .ok)
        world.local.advance(by: .seconds(3_600))
        #expect(try await world.read(token).code == .unauthenticated)
        #expect(try await world.listen(token).code == .unauthenticated)
        let renewed = try await world.post(
            "/securetoken.googleapis.com/v1/token",
            [
                "grant_type": "refresh_token",
                "refresh_token": try #require(session["refreshToken"]),
            ])
        #expect(try await world.read(renewed["id_token"]) == .ok)
        await world.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `nobody, strangers and other projects are refused`() async throws {
        let world = try await World()
        let session = try await world.post("/v1/accounts:signUp", [:])
        let token = try #require(session["idToken"])
        for other in [nil, "", "owner", "a.b.c", String(token.dropLast(8)) + "AAAAAAAA"] {
            #expect(try await world.read(other).code == .unauthenticated)
            #expect(try await world.listen(other).code == .unauthenticated)
        }
        #expect(try await world.read(token, project: "elsewhere").code == .unauthenticated)
        #expect(try await world.read("administrator", project: "elsewhere") == .ok)
        await world.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a token that was known is refused once its account is disabled`() async throws {
        let world = try await World()
        let session = try await world.post("/v1/accounts:signUp", [:])
        let token = try #require(session["idToken"])
        #expect(try await world.read(token) == .ok)
        _ = try await world.post(
            "/v1/projects/local/accounts:update",
            ["localId": try #require(session["localId"]), "disableUser": "true"], admin: true)
        #expect(try await world.read(token).code == .unauthenticated)
        await world.stop()
    }
}
