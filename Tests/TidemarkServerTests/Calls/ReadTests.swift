import Testing
import TidemarkModel

struct ReadTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        try server.commit(
            set("c/a", ["n": .integer(1), "m": .integer(9)]), set("c/b", ["n": .integer(2)]),
            set("c/d", ["n": .integer(3)]), set("c/a/sub/x", ["n": .integer(4)]),
            set("lost/only/sub/y", ["n": .integer(5)]))
    }

    private func field(_ name: String) -> FieldPath { FieldPath(unchecked: [name]) }

    @Test func `a batch get answers found before missing, and each path once`() throws {
        let request = BatchGetDocumentsRequest(paths: [
            path("c/none"), path("c/b"), path("c/b"), path("c/a"),
        ])
        let rows = try server.replies(.batchGetDocuments(request)).map { reply -> String in
            guard case .batchGetDocuments(let result) = reply, let row = result.row else {
                return ""
            }
            switch row {
            case .found(let document): return document.path.id
            case .missing(let path): return "no " + path.id
            }
        }
        #expect(rows == ["b", "a", "no none"])
    }

    @Test func `a query answers its rows, and an empty one a read time only`() throws {
        #expect(try server.ids(collection("c")) == ["a", "b", "d"])
        let empty = try server.query(collection("nothing"))
        #expect(empty.count == 1)
        #expect(empty[0].document == nil)
        #expect(empty[0].readTime != nil)
    }

    @Test func `skipped rows are told in a reply of their own, before the documents`() throws {
        var query = collection("c")
        query.offset = 2
        let replies = try server.query(query)
        #expect(replies.map(\.skippedResults) == [2, 0])
        #expect(replies.map { $0.document?.path.id } == [nil, "d"])
        query.offset = 10
        #expect(try server.query(query).map(\.skippedResults) == [3])
    }

    @Test func `a projection returns the fields it names`() throws {
        var query = collection("c")
        query.projection = [field("m")]
        #expect(try server.query(query)[0].document?.fields == ["m": .integer(9)])
        query.projection = [.documentID]
        #expect(try server.query(query)[0].document?.fields == [:])
    }

    @Test func `a bad query is refused with a sentence`() throws {
        var query = collection("c")
        query.filter = .field(field("n"), .isIn, .integer(1))
        let refused = refusal { _ = try server.query(query) }
        #expect(refused?.code == .invalidArgument)
        #expect(refused?.message.isEmpty == false)
    }

    @Test func `counts, sums and averages`() throws {
        let request = RunAggregationQueryRequest(
            query: collection("c"),
            aggregations: [
                Aggregation(alias: "all", .count(upTo: nil)),
                Aggregation(alias: "sum", .sum(field("n"))),
                Aggregation(alias: "", .average(field("n"))),
            ])
        let reply = try server.aggregate(request)
        #expect(
            reply.values == ["all": .integer(3), "sum": .integer(6), "field_1": .double(2)])
    }

    @Test func `a sum with a limit is over the smallest`() throws {
        var query = collection("c")
        query.limit = .first(2)
        query.orders = []
        try server.commit(set("c/0", ["n": .integer(100)]))
        let request = RunAggregationQueryRequest(
            query: query, aggregations: [Aggregation(alias: "sum", .sum(field("n")))])
        let reply = try server.aggregate(request)
        #expect(reply.values == ["sum": .integer(3)])
    }

    @Test func `an aggregation of nothing is refused`() {
        let request = RunAggregationQueryRequest(query: collection("c"), aggregations: [])
        #expect(
            refusal { _ = try server.replies(.runAggregationQuery(request)) }
                == .invalidArgument("Aggregations can not be empty."))
    }

    @Test func `a list goes page by page`() throws {
        var seen: [String] = []
        var token = ""
        repeat {
            let request = ListDocumentsRequest(
                collectionID: "c", pageSize: 2, pageToken: token, mask: [])
            guard
                case .listDocuments(let rows, let next)? = try server.replies(
                    .listDocuments(request)
                ).first
            else {
                Issue.record("no list")
                return
            }
            #expect(rows.allSatisfy { $0.document?.fields == [:] })
            seen += rows.map(\.path.id)
            token = next
        } while !token.isEmpty
        #expect(seen == ["a", "b", "d"])
    }

    @Test func `a page token of another list, or of no list, is refused`() throws {
        let first = ListDocumentsRequest(collectionID: "c", pageSize: 1)
        guard case .listDocuments(_, let token)? = try server.replies(.listDocuments(first)).first
        else {
            Issue.record("no list")
            return
        }
        func refused(_ request: ListDocumentsRequest) -> RPCStatus? {
            refusal { _ = try server.replies(.listDocuments(request)) }
        }
        #expect(
            refused(ListDocumentsRequest(collectionID: "lost", pageToken: token))
                == .invalidArgument("Invalid page token."))
        #expect(
            refused(ListDocumentsRequest(collectionID: "c", pageToken: "zzz"))
                == .invalidArgument("invalid page token"))
        #expect(
            refused(ListDocumentsRequest(collectionID: "c", pageSize: -1))
                == .invalidArgument("Page size must be nonnegative."))
    }

    @Test func `missing documents with something below them are listed when asked for`() throws {
        let request = ListDocumentsRequest(collectionID: "lost", showMissing: true)
        guard case .listDocuments(let rows, _)? = try server.replies(.listDocuments(request)).first
        else {
            Issue.record("no list")
            return
        }
        #expect(rows == [ListedDocument(path: path("lost/only"), document: nil)])
    }

    @Test func `collection ids are listed at the root and below a document`() throws {
        func ids(_ request: ListCollectionIDsRequest) throws -> ([String], String) {
            guard
                case .listCollectionIDs(let ids, let next)? = try server.replies(
                    .listCollectionIDs(request)
                ).first
            else { return ([], "none") }
            return (ids, next)
        }
        #expect(try ids(ListCollectionIDsRequest()) == (["c", "lost"], ""))
        #expect(try ids(ListCollectionIDsRequest(parent: path("c/a"))) == (["sub"], ""))
        let (first, token) = try ids(ListCollectionIDsRequest(pageSize: 1))
        #expect(first == ["c"])
        #expect(
            try ids(ListCollectionIDsRequest(pageSize: 1, pageToken: token)) == (["lost"], ""))
    }

    @Test func `a past time shows what was there then, in every kind of read`() throws {
        let then = try server.commit(set("c/e", ["n": .integer(0)])).commitTime
        server.machine.advance(.seconds(1))
        try server.commit(
            delete("c/a"), set("c/b", ["n": .integer(7)]), set("c/f", ["n": .integer(1)]),
            delete("lost/only/sub/y"), set("new/one", [:]), delete("c/a/sub/x"))
        #expect(try server.get("c/b", at: .at(then)).fields == ["n": .integer(2)])
        #expect(try server.ids(collection("c"), at: .at(then)) == ["a", "b", "d", "e"])
        #expect(try server.ids(collection("c")) == ["b", "d", "e", "f"])
        var top = collection("c")
        top.orders = [Order(field("n"), .descending)]
        top.limit = .first(2)
        #expect(try server.ids(top, at: .at(then)) == ["d", "b"])
        #expect(try server.ids(top) == ["b", "d"])
        let count = RunAggregationQueryRequest(
            query: collection("c"), aggregations: [Aggregation(alias: "n", .count(upTo: nil))],
            consistency: .at(then))
        let reply = try server.aggregate(count)
        #expect(reply.values == ["n": .integer(4)])
        #expect(reply.readTime == then)
        let list = ListCollectionIDsRequest(consistency: .at(then))
        guard
            case .listCollectionIDs(let ids, _)? = try server.replies(.listCollectionIDs(list))
                .first
        else {
            Issue.record("no collection ids")
            return
        }
        #expect(ids == ["c", "lost"])
        let missing = ListDocumentsRequest(
            collectionID: "lost", showMissing: true, consistency: .at(then))
        guard case .listDocuments(let rows, _)? = try server.replies(.listDocuments(missing)).first
        else {
            Issue.record("no list")
            return
        }
        #expect(rows.map(\.path.id) == ["only"])
    }

    @Test func `the last rows after an offset are the same ones at a past time`() throws {
        let server = try TestServer()
        let writes = (0..<6).map { set("c/\($0)", ["n": .integer(Int64($0))]) }
        _ = try server.replies(.commit(CommitRequest(mutations: writes)))
        var query = collection("c")
        query.orders = [Order(FieldPath(unchecked: ["n"]))]
        query.offset = 4
        query.limit = .last(3)
        #expect(try server.ids(query) == ["4", "5"])
        let then = try server.commit(set("other/x", [:])).commitTime
        try server.commit(set("c/0", ["n": .integer(100)]))
        #expect(try server.ids(query, at: .at(then)) == ["4", "5"])
    }

    @Test func `a version is visible at exactly its own time, and not just before`() throws {
        let time = try server.commit(set("c/z", [:])).commitTime
        #expect(try server.get("c/z", at: .at(time)).updateTime == time)
        let before = time.advanced(by: .microseconds(-1))
        #expect(refusal { _ = try server.get("c/z", at: .at(before)) }?.code == .notFound)
    }

    @Test func `a time that is no longer kept, or has not come, is refused`() throws {
        server.machine.advance(.seconds(7_200))
        let old = server.machine.now.advanced(by: .seconds(-3_601))
        #expect(refusal { _ = try server.get("c/a", at: .at(old)) }?.code == .invalidArgument)
        let kept = server.machine.now.advanced(by: .seconds(-3_599))
        #expect(try server.get("c/a", at: .at(kept)).path.id == "a")
        let future = server.machine.now.advanced(by: .seconds(1))
        #expect(refusal { _ = try server.get("c/a", at: .at(future)) }?.code == .invalidArgument)
    }
}
