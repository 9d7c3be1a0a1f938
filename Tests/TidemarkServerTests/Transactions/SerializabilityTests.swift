import Testing
import TestSupport
import TidemarkModel
import TidemarkTestKit

/// Clients run transactions, plain writes and rollbacks concurrently, in an order that a seed
/// chooses. The stored documents, and the reads of committed transactions, must be the same as if
/// the commits had run one after the other.
@Suite(.ownThread) struct SerializabilityTests {
    @Test(arguments: UInt64(0)..<60)
    func `whatever the order, it is as if they ran one after the other`(seed: UInt64) throws {
        let world = try SerialWorld(seed: seed)
        for _ in 0..<250 { try world.step() }
        try world.finish()
        try world.verify("seed \(seed)")
    }
}

private final class SerialWorld {
    struct Reads {
        var documents: [(path: DocumentPath, fields: MapValue?)] = []
        /// The bound of each query for `n`, and its rows.
        var queries: [(bound: Int64, rows: [DocumentPath: MapValue])] = []
    }

    struct Committed {
        let time: Timestamp
        let reads: Reads
        let writes: [DocumentPath: MapValue?]
    }

    enum Pending {
        case get(DocumentPath)
        case query(Int64)
        case commit([DocumentPath: MapValue?])
    }

    final class Client {
        var id: TransactionID?
        var retrying: TransactionID?
        var reads = Reads()
        var pending: (what: Pending, call: TestCall, since: Timestamp)?
    }

    let server: TestServer
    private var random: SeededRandom
    private let clients = (0..<6).map { _ in Client() }
    private var committed: [Committed] = []
    private var tag: Int64 = 0

    init(seed: UInt64) throws {
        server = try TestServer()
        random = SeededRandom(seed: seed)
    }

    private static let paths = ["c/1", "c/2", "c/3", "c/4"].map(path)

    // MARK: What happens

    func step() throws {
        let client = try #require(clients.randomElement(using: &random))
        if client.pending == nil {
            try act(client)
        } else if Int.random(in: 0..<10, using: &random) == 0 {
            server.machine.advance(.milliseconds(Int.random(in: 0...8_000, using: &random)))
        }
        try hear()
    }

    private func act(_ client: Client) throws {
        guard let id = client.id else {
            if Int.random(in: 0..<4, using: &random) == 0 {
                start(.commit(writes()), client)
            } else {
                try begin(client)
            }
            return
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: start(.get(Self.paths.randomElement(using: &random) ?? path("c/1")), client)
        case 4...5: start(.query(Int64.random(in: 0...10, using: &random)), client)
        case 6...8: start(.commit(writes()), client)
        default:
            _ = try server.replies(.rollback(id))
            end(client, isRetried: false)
        }
    }

    private func begin(_ client: Client) throws {
        let isOptimistic = Int.random(in: 0..<5, using: &random) == 0
        client.id = try server.begin(
            .readWrite(
                retrying: client.retrying, concurrency: isOptimistic ? .optimistic : .standard))
        client.reads = Reads()
    }

    private func writes() -> [DocumentPath: MapValue?] {
        var result: [DocumentPath: MapValue?] = [:]
        for path in Self.paths.shuffled(using: &random).prefix(
            Int.random(in: 1...2, using: &random))
        {
            tag += 1
            let n = Int64.random(in: 0..<10, using: &random)
            let isDelete = n == 0
            result.updateValue(
                isDelete ? nil : ["n": .integer(n), "tag": .integer(tag)], forKey: path)
        }
        return result
    }

    private func start(_ what: Pending, _ client: Client) {
        let consistency = client.id.map { ReadConsistency.transaction($0) } ?? .latest
        let request: Request
        switch what {
        case .get(let path):
            request = .batchGetDocuments(
                BatchGetDocumentsRequest(paths: [path], consistency: consistency))
        case .query(let bound):
            request = .runQuery(
                RunQueryRequest(query: Self.query(bound), consistency: consistency))
        case .commit(let writes):
            let mutations = writes.keys.sorted().map { path in
                Mutation(path: path, writes[path].flatMap { $0 }.map { .set($0) } ?? .delete)
            }
            request = .commit(CommitRequest(mutations: mutations, transaction: client.id))
        }
        client.pending = (what, server.start(request), server.machine.now)
    }

    private static func query(_ bound: Int64) -> Query {
        Query(
            collectionID: "c",
            filter: .field(FieldPath(unchecked: ["n"]), .lessThan, .integer(bound)))
    }

    // MARK: What comes of it

    private func hear() throws {
        for client in clients {
            guard let (what, call, since) = client.pending else { continue }
            guard let status = call.status else {
                #expect(server.machine.now < since.advanced(by: .seconds(15)), "waits too long")
                continue
            }
            client.pending = nil
            if status.code == .ok {
                note(what, call.replies, client)
            } else {
                #expect(status.code == .aborted)
                end(client, isRetried: true)
            }
        }
    }

    private func note(_ what: Pending, _ replies: [Reply], _ client: Client) {
        switch what {
        case .get(let path):
            guard case .batchGetDocuments(let result)? = replies.first else {
                Issue.record("a read without an answer")
                return
            }
            if case .found(let document)? = result.row {
                client.reads.documents.append((path, document.fields))
            } else {
                client.reads.documents.append((path, nil))
            }
        case .query(let bound):
            var rows: [DocumentPath: MapValue] = [:]
            for case .runQuery(let reply) in replies {
                if let document = reply.document { rows[document.path] = document.fields }
            }
            client.reads.queries.append((bound, rows))
        case .commit(let writes):
            guard case .commit(let reply)? = replies.first else {
                Issue.record("a commit without an answer")
                return
            }
            committed.append(
                Committed(time: reply.commitTime, reads: client.reads, writes: writes))
            end(client, isRetried: false)
        }
    }

    private func end(_ client: Client, isRetried: Bool) {
        client.retrying = isRetried ? client.id ?? client.retrying : nil
        client.id = nil
        client.reads = Reads()
    }

    /// Checks that every wait ends, at the latest after the lock timeout.
    func finish() throws {
        server.machine.advance(.seconds(15))
        try hear()
        for client in clients {
            #expect(client.pending == nil)
            if let id = client.id { _ = try server.replies(.rollback(id)) }
        }
    }

    // MARK: The oracle

    func verify(_ comment: Comment) throws {
        var model: [DocumentPath: MapValue] = [:]
        for commit in committed.sorted(by: { $0.time < $1.time }) {
            for (path, fields) in commit.reads.documents {
                #expect(model[path] == fields, comment)
            }
            for (bound, rows) in commit.reads.queries {
                let oracle = QueryOracle(Self.query(bound), in: server.database)
                let expected = model.filter { oracle.matches($0.key, $0.value) }
                #expect(rows == expected, comment)
            }
            for (path, fields) in commit.writes { model[path] = fields }
        }
        for path in Self.paths {
            let stored = try? server.get(path.text)
            #expect(stored?.fields == model[path], comment)
        }
        // No lock is left.
        for path in Self.paths { try server.commit(set(path.text, [:])) }
        #expect(committed.count > 5, "\(comment): hardly anything was committed")
    }
}
