import Testing
import TidemarkModel
import TidemarkServer
import TidemarkSync

@testable import Tidemark

/// Tests that the cache refuses each query that the server refuses, with the same message. An empty
/// list would look like an answer.
@Suite(.timeLimit(.minutes(20))) struct `A query that a server refuses` {
    private static let fields = (0..<11).map { FieldPath(["f\($0)"]) }
    private static func list(_ count: Int) -> Value {
        .array((0..<count).map { .integer(Int64($0)) })
    }
    private static let name = Value.reference(
        ReferenceValue(
            database: try! DatabaseID(project: "projectID"), path: DocumentPath(unchecked: "rows/a")
        ))

    private static let filters: [TidemarkModel.Filter] = [
        .and([.field(fields[0], .isIn, list(6)), .field(fields[1], .isIn, list(6))]),
        .and([
            .field(fields[0], .arrayContains, .integer(1)),
            .field(fields[1], .arrayContains, .integer(1)),
        ]),
        .field(fields[0], .notIn, list(11)), .field(fields[0], .isIn, list(0)),
        .and([.field(fields[0], .notIn, list(2)), .field(fields[1], .isIn, list(2))]),
        .and([
            .field(fields[0], .notEqual, .integer(1)), .field(fields[1], .notEqual, .integer(1)),
        ]),
        .and(fields.map { .field($0, .greaterThan, .integer(1)) }),
        .and([
            .field(fields[0], .notEqual, .integer(42)), .field(.documentID, .equal, name),
        ]),
        .field(.documentID, .equal, .string("a")), .field(FieldPath(["__x__"]), .equal, .null),
    ]

    private static var queries: [TidemarkModel.Query] {
        let rows = TidemarkModel.Query(collectionID: "rows")
        var queries = filters.map { filter in
            var query = rows
            query.filter = filter
            return query
        }
        var other = rows
        other.orders = [Order(fields[0]), Order(fields[0], .descending)]
        queries.append(other)
        other.orders = [Order(.documentID), Order(fields[0])]
        queries.append(other)
        other.orders = [Order(fields[0])]
        other.start = Cursor(values: [.integer(1), .integer(2), .integer(3)], before: true)
        queries.append(other)
        queries.append(TidemarkModel.Query(collectionID: "__rows__"))
        return queries
    }

    /// Returns the server's message; nil for an error of the client.
    private static func words(_ error: SyncError?) -> String? {
        guard case .server(let status)? = error else { return nil }
        return "\(status.code): \(status.message)"
    }

    /// Returns the error of a read; nil if the read succeeds.
    private func refusal(
        _ firestore: Firestore, _ query: TidemarkModel.Query, _ source: ReadSource
    ) async -> SyncError? {
        await withCheckedContinuation { done in
            firestore.engine.read(query, source: source, deadline: .seconds(600)) { result in
                switch result {
                case .success: done.resume(returning: nil)
                case .failure(let error): done.resume(returning: error)
                }
            }
        }
    }

    private func listen(
        _ firestore: Firestore, _ query: TidemarkModel.Query, _ source: ReadSource
    ) async -> [String] {
        let (news, sink) = AsyncStream.makeStream(of: String.self)
        let handle = firestore.engine.listen(
            query, SyncEngine.ListenOptions(source: source)
        ) { event in
            switch event {
            case .success: sink.yield("rows")
            case .failure(let error):
                sink.yield(Self.words(error) ?? "\(error)")
                sink.finish()
            }
        }
        var heard: [String] = []
        for await event in news { heard.append(event) }
        handle.cancel()
        return heard
    }

    @Test func `is refused by the cache in the same words`() async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let firestore = try Firestore.testing(server)
        for query in Self.queries {
            let ours = await refusal(firestore, query, .server)
            guard let words = Self.words(ours), words.hasPrefix("invalidArgument") else {
                Issue.record("the server takes \(query)")
                continue
            }
            #expect(Self.words(await refusal(firestore, query, .cache)) == words)
            #expect(await listen(firestore, query, .default) == [words])
            #expect(await listen(firestore, query, .cache) == [words])
        }
        await firestore.disableNetwork()
        for query in Self.queries {
            guard case .server(let status)? = await refusal(firestore, query, .default) else {
                Issue.record("offline, \(query) is answered")
                continue
            }
            #expect(status.code == .invalidArgument)
        }
        await firestore.terminate()
        server.close()
    }

    @Test func `36 disjunctions are refused by both, and by figures`() async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let firestore = try Firestore.testing(server)
        let wide = firestore.collection("rows").whereField("a", in: Array(0..<6))
            .whereField("b", in: Array(0..<6))
        var messages: Set<String> = []
        for source in [FirestoreSource.server, .cache] {
            do throws(FirestoreError) {
                _ = try await wide.getDocuments(source: source)
                Issue.record("\(source) answers")
            } catch { messages.insert(error.detail) }
        }
        for source in [AggregateSource.server, .cache] {
            do throws(FirestoreError) {
                _ = try await wide.count.getAggregation(source: source)
                Issue.record("\(source) counts")
            } catch { messages.insert(error.detail) }
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("30 disjunctions") == true)
        await firestore.terminate()
        server.close()
    }

    @Test func `a miss of the cache says why the server was not asked`() async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let firestore = try Firestore.testing(server)
        do throws(FirestoreError) {
            _ = try await firestore.document("rows/none").getDocument(source: .cache)
        } catch {
            #expect(error.code == .unavailable)
            #expect(error.detail == "Not in the cache, and nothing else was asked.")
        }
        await firestore.disableNetwork()
        do throws(FirestoreError) {
            _ = try await firestore.document("rows/none").getDocument()
        } catch {
            #expect(error.detail == "Not in the cache, and the server cannot be reached.")
        }
        await firestore.terminate()
        server.close()
    }

    @Test func `a backtick in a field's name is refused, and FieldPath is named`() throws {
        for name in ["x.`y z`", "`a`", "a`"] {
            do throws(FirestoreError) {
                _ = try name.resolved()
                Issue.record("\(name) is taken")
            } catch {
                #expect(error.code == .invalidArgument)
                #expect(error.detail.contains("FieldPath"))
            }
        }
        #expect(try FieldPath(["x", "y z"]).resolved().encoded == "x.`y z`")
        #expect(try FieldPath(["a`"]).resolved().segments == ["a`"])
    }
}
