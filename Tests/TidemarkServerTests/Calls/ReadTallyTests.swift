import Testing
import TidemarkModel

@testable import TidemarkServer

/// The tally of reads tells apart callers, calls, collections and the shapes of queries.
struct `The tally of reads` {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        for number in 1...5 {
            try server.commit(
                set("rooms/a/messages/\(number)", ["n": .integer(Int64(number))]),
                set("users/\(number)", [:]))
        }
        server.server.keepReadTally(
            ReadTally.Words { asked in
                switch asked {
                case .query(let query, _): "\(query.collectionID ?? "") \(query.limit?.count ?? 0)"
                case .documents(let path): path.text
                case .place(let name): name
                }
            })
    }

    private func lines() -> [ReadTally.Line] {
        server.server.readLines().sorted {
            ($0.call.rawValue, $0.query) < ($1.call.rawValue, $1.query)
        }
    }

    private func only() throws -> ReadTally.Line {
        let lines = lines()
        try #require(lines.count == 1, "\(lines)")
        return lines[0]
    }

    private func ordered(limit: Int?) -> Query {
        var query = Query(collection: path("rooms/a/messages/1").parent)
        query.orders = [Order(field("n"), .descending)]
        query.limit = limit.map { .first($0) }
        return query
    }

    @Test func `has a line for queries that differ in values and limit alone`() throws {
        _ = try server.query(ordered(limit: 2), label: "test")
        _ = try server.query(ordered(limit: 3), label: "test")
        let line = try only()
        #expect((line.label, line.call, line.target) == ("test", .runQuery, "rooms/*/messages"))
        #expect((line.query, line.reads, line.calls) == ("order by n desc", 5, 2))
        #expect(line.limit == 3 && line.example == "messages 3", "of the call with the most reads")
        #expect(line.indexes == ["Collection (n DESC, __name__ DESC)"])
    }

    @Test func `knows no limit once a query had none`() throws {
        _ = try server.query(ordered(limit: 2))
        _ = try server.query(ordered(limit: nil))
        _ = try server.query(ordered(limit: 9))
        #expect(try only().limit == nil)
    }

    @Test func `counts a batch of lookups as one call, and repeated lookups as many`() throws {
        let paths = try ["users/1", "users/2", "users/1"].map { try DocumentPath($0) }
        _ = try server.replies(
            .batchGetDocuments(BatchGetDocumentsRequest(paths: paths)), label: "batch")
        #expect(try only().calls == 1 && only().reads == 2 && only().target == "users")
        for path in paths {
            _ = try server.replies(
                .batchGetDocuments(BatchGetDocumentsRequest(paths: [path])), label: "batch")
        }
        #expect(try only().calls == 4 && only().reads == 5)
    }

    @Test func `counts starts of listeners, those that resume, and changes`() throws {
        let listen = server.listen(label: "phone")
        let first = token(listen.add(target(1, ordered(limit: nil))))
        try server.commit(set("rooms/a/messages/9", ["n": .integer(9)]))
        _ = listen.take()
        #expect(try only().calls == 1 && only().reads == 6 && only().resumed == 0)
        listen.cancel()
        let again = server.listen(label: "phone")
        _ = again.add(target(1, ordered(limit: nil), from: .token(first)))
        #expect(try only().calls == 2 && only().reads == 7 && only().resumed == 1)
        again.cancel()
        // After more than 30 minutes, a resumed listener is billed in full.
        server.machine.advance(.seconds(3_000))
        _ = server.listen(label: "phone").add(target(1, ordered(limit: nil), from: .token(first)))
        #expect(try only().calls == 3 && only().reads == 13 && only().resumed == 1)
    }

    @Test func `keeps a listener under the label of its start`() throws {
        server.server.setLabel("first")
        let listen = server.listen()
        _ = listen.add(target(1, collection("users")))
        server.server.setLabel("second")
        try server.commit(set("users/9", [:]))
        _ = listen.add(target(2, collection("rooms")))
        server.server.setLabel(nil)
        try server.commit(set("users/10", [:]))
        let reads = Dictionary(grouping: lines(), by: \.label).mapValues { lines in
            lines.reduce(0) { $0 + $1.reads }
        }
        #expect(reads == ["first": 7, "second": 1])
    }

    @Test func `names a caller by its label, the running test or its library`() throws {
        func read(_ label: String?, _ agent: String?) {
            var context = server.context(label)
            context.agent = agent
            _ = server.server.call(
                .listCollectionIDs(ListCollectionIDsRequest(parent: nil)), context
            ) { _ in }
            server.machine.run()
        }
        read(nil, nil)
        read(nil, "gl-python/3.11.2 grpc/1.74.0 gax/2.25.1 gapic/2.21.0")
        read("", "curl/8.5.0")
        read("mine", "gl-js/ fire/12.1.0")
        server.server.setLabel("test_open")
        read(nil, "gl-js/ fire/12.1.0")
        read("mine", nil)
        #expect(
            Set(lines().map { "\($0.label) \($0.reads)" })
                == [
                    "unlabelled 1", "client python 1", "client curl 1", "mine 2", "test_open 1",
                ])
    }

    @Test func `writes aggregations and groups in words`() throws {
        let group = Query(
            collectionID: "messages", allDescendants: true,
            filter: .field(field("n"), .greaterThan, .integer(2)))
        _ = try server.aggregate(
            RunAggregationQueryRequest(
                query: group, aggregations: [Aggregation(alias: "", .count(upTo: nil))]))
        let line = try only()
        #expect(line.target == "**/messages" && line.query == "count where n > ?")
    }

    @Test func `bounds its lines`() {
        var tally = ReadTally(ReadTally.Words { _ in "" })
        for number in 0..<(ReadTally.maxLines + 10) {
            tally.add(
                Usage(reads: 1), of: ReadSubject(.place("rooms")), by: .getDocument,
                label: "label \(number)"
            ) { _, _ in [] }
        }
        #expect(tally.lines.count == ReadTally.maxLines + 1)
        #expect(tally.lines.first { $0.label == "other labels" }?.reads == 10)
    }

    @Test func `is not kept unless somebody asks for it`() throws {
        let other = try TestServer()
        _ = try other.query(collection("users"))
        #expect(other.server.readLines().isEmpty && other.server.meter().count == 1)
    }
}

struct `Patterns of names` {
    @Test(arguments: [
        ("rooms", "rooms"), ("rooms/blue/messages", "rooms/*/messages"), ("(rules)", "(rules)"),
        ("c-3f9a8b7c6d5e", "c-#"), ("users-1700000000000", "users-#"), ("test12345b", "test#b"),
        ("2f1c8a4e-6b1d-4f6e-9a57-0c1d2e3f4a5b", "#"), ("Ab3dEf6hIj9kLm2nOp5q", "#"),
        ("year2024", "year2024"), ("deadbeefcafe", "deadbeefcafe"), ("messages_v2", "messages_v2"),
        ("Müller", "Müller"),
        ("2f1c8a4e-6b1d-4f6e-9a57-0c1d2e3f4a5bc", "2f1c8a4e-6b1d-4f6e-9a57-#"),
    ])
    func `replace what differs from run to run`(name: String, pattern: String) {
        #expect(ReadPattern.collection(name) == pattern)
    }

    @Test func `write each kind of filter once`() {
        func equal(_ name: String, _ value: Int64) -> Filter {
            .field(field(name), .equal, .integer(value))
        }
        var query = collection("c")
        query.filter = .and([
            .or([equal("a", 1), equal("a", 2), equal("b", 3)]), .unary(field("d"), .isNotNull),
            .field(field("tag"), .isIn, .array([.integer(1), .integer(2)])),
        ])
        query.orders = [Order(field("a")), Order(.documentID, .descending)]
        query.start = Cursor(values: [.integer(1)], before: false)
        query.offset = 3
        #expect(
            ReadPattern.shape(of: query, []) == """
                where (a == ? or b == ?) and d is not null and tag in ? order by a, __name__ desc \
                start after ? offset ?
                """)
    }
}
