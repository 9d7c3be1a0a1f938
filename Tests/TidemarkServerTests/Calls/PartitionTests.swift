import Testing
import TidemarkModel

struct PartitionTests {
    private static let group = Query(collectionID: "c", allDescendants: true)

    /// Returns a server whose group `c` has this many documents, at the root and below other
    /// documents.
    private func server(documents count: Int) throws -> TestServer {
        let server = try TestServer()
        let mutations = (0..<count).map { row in
            set(row % 3 == 0 ? "c/\(row * 37 % 1_009)" : "p/\(row % 5)/c/\(row)", [:])
        }
        for start in stride(from: 0, to: count, by: 500) {
            let batch = Array(mutations[start..<min(start + 500, count)])
            _ = try server.replies(.commit(CommitRequest(mutations: batch)))
        }
        return server
    }

    private func page(
        _ server: TestServer, _ request: PartitionQueryRequest
    ) throws -> (cursors: [Cursor], next: String) {
        guard
            case .partitionQuery(let cursors, let next)? = try server.replies(
                .partitionQuery(request)
            ).first
        else { throw RPCStatus(.internal, "no reply") }
        return (cursors, next)
    }

    private func cursors(
        _ server: TestServer, _ count: Int64, pageSize: Int = 10
    ) throws -> [Cursor] {
        var all: [Cursor] = []
        var token = ""
        repeat {
            let (cursors, next) = try page(
                server,
                PartitionQueryRequest(
                    query: Self.group, partitionCount: count, pageSize: pageSize, pageToken: token))
            #expect(cursors.count <= pageSize)
            all += cursors
            token = next
        } while !token.isEmpty
        return all
    }

    /// Source: server-production-facts 2, measured with pages of 10.
    @Test(arguments: [(5, [0, 0, 0]), (100, [1, 1, 1]), (1_000, [1, 2, 8])])
    func `as many split points as production was seen to give`(documents: Int, points: [Int])
        throws
    {
        let server = try server(documents: documents)
        #expect(try [1, 2, 10].map { try cursors(server, $0).count } == points)
    }

    @Test(arguments: UInt64(0)..<12)
    func `the ranges between the cursors are the whole, each document once`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let server = try server(documents: .random(in: 0...1_500, using: &random))
        let whole = try server.query(Self.group).compactMap(\.document?.path)
        let cursors = try cursors(
            server, .random(in: 1...20, using: &random),
            pageSize: .random(in: 1...5, using: &random))
        var rebuilt: [DocumentPath] = []
        var sizes: [Int] = []
        for (start, end) in zip([nil] + cursors, cursors + [nil]) {
            var part = Self.group
            part.start = start
            part.end = end
            let paths = try server.query(part).compactMap(\.document?.path)
            rebuilt += paths
            sizes.append(paths.count)
        }
        #expect(rebuilt == whole, "seed \(seed)")
        #expect(sizes.max()! - sizes.min()! <= 1, "seed \(seed): \(sizes)")
    }

    @Test func `a past time is cut as it was`() throws {
        let server = try server(documents: 300)
        let then = try server.commit(set("other/x", [:])).commitTime
        server.machine.advance(.seconds(1))
        let paths = try server.query(Self.group).compactMap(\.document?.path)
        for path in paths.dropFirst(10) { try server.commit(delete(path.text)) }
        func count(_ consistency: ReadConsistency) throws -> Int {
            try page(
                server,
                PartitionQueryRequest(
                    query: Self.group, partitionCount: 10, consistency: consistency)
            ).cursors.count
        }
        #expect(try count(.latest) == 0)
        #expect(try count(.at(then)) == 2)
    }

    @Test func `a page token of another partition query is refused`() throws {
        let server = try server(documents: 300)
        var request = PartitionQueryRequest(query: Self.group, partitionCount: 2, pageSize: 1)
        request.pageToken = try page(server, request).next
        #expect(try page(server, request).cursors.count == 1)
        request.partitionCount = 3
        #expect(
            refusal { _ = try page(server, request) } == .invalidArgument("Invalid page token."))
        request.pageToken = "x"
        #expect(refusal { _ = try page(server, request) } == .invalidArgument("invalid page token"))
    }

    @Test func `anything but a collection group in the order of names is refused`() throws {
        let server = try TestServer()
        func refused(
            count: Int64 = 1, pageSize: Int = 0, _ change: (inout Query) -> Void
        ) -> RPCStatus.Code? {
            var query = Self.group
            change(&query)
            let request = PartitionQueryRequest(
                query: query, partitionCount: count, pageSize: pageSize)
            return refusal { _ = try page(server, request) }?.code
        }
        let field = FieldPath(unchecked: ["n"])
        #expect(refused { $0.orders = [Order(.documentID)] } == nil)
        #expect(refused { $0.filter = .and([]) } == nil)
        #expect(refused(count: 0) { _ in } == .invalidArgument)
        #expect(refused(count: -1) { _ in } == .invalidArgument)
        #expect(refused(pageSize: -1) { _ in } == .invalidArgument)
        #expect(refused { $0.parent = path("a/b") } == .invalidArgument)
        #expect(refused { $0.allDescendants = false } == .invalidArgument)
        #expect(refused { $0.collectionID = nil } == .invalidArgument)
        #expect(refused { $0.orders = [Order(field)] } == .invalidArgument)
        #expect(refused { $0.orders = [Order(.documentID, .descending)] } == .invalidArgument)
        #expect(refused { $0.filter = .unary(field, .isNull) } == .invalidArgument)
        #expect(refused { $0.limit = .first(1) } == .invalidArgument)
        #expect(refused { $0.offset = 1 } == .invalidArgument)
        #expect(refused { $0.start = Cursor(values: [], before: true) } == .invalidArgument)
    }
}
