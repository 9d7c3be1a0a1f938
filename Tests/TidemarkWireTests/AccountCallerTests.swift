import Foundation
import Testing
import TidemarkModel
import TidemarkServer
import TidemarkTesting
import TidemarkWire

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Firestore checks the tokens of accounts, at times that the tests set.
struct AccountCallerTests {
    /// A Firestore server and an accounts server, which signs the tokens.
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

        /// Returns the status of a read with `token`.
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

    // MARK: Streams

    /// An open stream and its events.
    private struct Open {
        let stream: any CancellableCall
        let news: AsyncStream<String>

        /// Returns the next event of the stream.
        func next() async -> String? {
            var iterator = news.makeAsyncIterator()
            return await iterator.next()
        }
    }

    private func listen(_ world: World, _ token: String) async throws -> Open {
        let (news, sink) = AsyncStream.makeStream(of: String.self)
        let context = CallContext(database: try DatabaseID(project: "local"), token: token)
        let stream = world.transport.listen(context) { event in
            switch event {
            case .message(.targetChange(let change)) where change.kind == .current:
                sink.yield("current")
            case .message: break
            case .ended(let status): sink.yield("\(status.code): \(status.message)")
            }
        }
        let query = Query(collectionID: "c")
        stream.send(.add(ListenTarget(id: 1, .query(query)), labels: [:]))
        return Open(stream: stream, news: news)
    }

    private func write(_ world: World, _ token: String) async throws -> Open {
        let (news, sink) = AsyncStream.makeStream(of: String.self)
        let context = CallContext(database: try DatabaseID(project: "local"), token: token)
        let stream = world.transport.write(context) { event in
            switch event {
            case .message: sink.yield("current")
            case .ended(let status): sink.yield("\(status.code): \(status.message)")
            }
        }
        stream.send(WriteRequest())
        return Open(stream: stream, news: news)
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["disable", "delete", "revoke", "hour"])
    func `streams end with what opened them`(way: String) async throws {
        let world = try await World()
        let session = try await world.post("/v1/accounts:signUp", [:])
        let token = try #require(session["idToken"])
        let id = try #require(session["localId"])
        let other = try #require(try await world.post("/v1/accounts:signUp", [:])["idToken"])
        let streams = [try await listen(world, token), try await write(world, token)]
        let beside = try await listen(world, other)
        for stream in streams + [beside] { #expect(await stream.next() == "current") }
        let admin = "/v1/projects/local/accounts:"
        _ = try await world.post(
            admin + "update", ["localId": id, "displayName": "Ann"], admin: true)
        switch way {
        case "disable":
            _ = try await world.post(
                admin + "update", ["localId": id, "disableUser": "true"], admin: true)
        case "delete": _ = try await world.post(admin + "delete", ["localId": id], admin: true)
        case "revoke":
            world.local.advance(by: .seconds(2))
            let now = Int64(1_700_000_002)
            _ = try await world.post(
                admin + "update", ["localId": id, "validSince": "\(now)"], admin: true)
        default: world.local.advance(by: .seconds(3_600))
        }
        for stream in streams {
            let end = await stream.next()
            #expect(end?.hasPrefix("unauthenticated: ") == true, "\(way): \(end ?? "nothing")")
        }
        if way != "hour" {
            #expect(try await world.read(other) == .ok, "others go on")
        }
        beside.stream.cancel()
        await world.stop()
    }
}
