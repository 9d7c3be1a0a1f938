import Testing
import TidemarkModel

/// The recorded answers of production to lists. Source: server-production-facts 3.
struct ListFactTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        let mutations = (0..<301).map { row in
            set("c/\(1_000 + row)", ["n": .integer(Int64(row % 7)), "m": .integer(1)])
        }
        _ = try server.replies(.commit(CommitRequest(mutations: mutations)))
        try server.commit(set("lost/one/sub/x", [:]), set("lost/two", ["n": .integer(1)]))
    }

    private func list(
        _ request: ListDocumentsRequest
    ) throws -> (rows: [ListedDocument], next: String) {
        guard
            case .listDocuments(let rows, let next)? = try server.replies(.listDocuments(request))
                .first
        else { throw RPCStatus(.internal, "no reply") }
        return (rows, next)
    }

    private func ids(
        _ request: ListCollectionIDsRequest
    ) throws -> (ids: [String], next: String) {
        guard
            case .listCollectionIDs(let ids, let next)? = try server.replies(
                .listCollectionIDs(request)
            ).first
        else { throw RPCStatus(.internal, "no reply") }
        return (ids, next)
    }

    @Test func `a page has 100 documents by itself and 300 at most`() throws {
        let page = try list(ListDocumentsRequest(collectionID: "c"))
        #expect(page.rows.count == 100 && !page.next.isEmpty)
        let large = try list(ListDocumentsRequest(collectionID: "c", pageSize: 1_000))
        #expect(large.rows.count == 300 && !large.next.isEmpty)
        let rest = try list(
            ListDocumentsRequest(collectionID: "c", pageSize: 1_000, pageToken: large.next))
        #expect(rest.rows.count == 1 && rest.next.isEmpty)
    }

    @Test func `a token is bound to its list, but not to a read time`() throws {
        let n = FieldPath(unchecked: ["n"])
        var request = ListDocumentsRequest(collectionID: "c", pageSize: 2)
        request.pageToken = try list(request).next
        var others = Array(repeating: request, count: 5)
        others[0].parent = path("c/1000")
        others[1].collectionID = "d"
        others[2].orders = [Order(n)]
        others[3].mask = [n]
        others[4].showMissing = true
        for other in others {
            #expect(
                refusal { _ = try list(other) } == .invalidArgument("Invalid page token."))
        }
        let now = try server.get("c/1000").updateTime
        request.consistency = .at(now)
        #expect(try list(request).rows.first?.path.id == "1002")
        request.pageToken = "no token"
        #expect(refusal { _ = try list(request) } == .invalidArgument("invalid page token"))
    }

    @Test func `a token goes on after the values its page ended on`() throws {
        let n = FieldPath(unchecked: ["n"])
        var request = ListDocumentsRequest(collectionID: "c", pageSize: 1, orders: [Order(n)])
        let first = try list(request)
        #expect(first.rows.map(\.path.id) == ["1000"])
        // The last document of the first page moves to the end.
        try server.commit(set("c/1000", ["n": .integer(100)]))
        request.pageToken = first.next
        #expect(try list(request).rows.map(\.path.id) == ["1007"])
    }

    @Test func `an order and missing documents do not go together`() throws {
        let request = ListDocumentsRequest(
            collectionID: "c", orders: [Order(FieldPath(unchecked: ["n"]))], showMissing: true)
        #expect(
            refusal { _ = try list(request) }
                == .invalidArgument("cannot specify an order when show_missing is true"))
    }

    @Test func `missing documents have nothing but a name`() throws {
        let request = ListDocumentsRequest(collectionID: "lost", showMissing: true)
        let rows = try list(request).rows
        #expect(rows.map(\.path.id) == ["one", "two"])
        #expect(rows.map { $0.document == nil } == [true, false])
    }

    @Test func `collection ids come in pages whose tokens are plain cursors`() throws {
        #expect(try ids(ListCollectionIDsRequest(parent: path("c/none"))) == ([], ""))
        // The page that contains the last id has no token.
        #expect(try ids(ListCollectionIDsRequest(pageSize: 2)) == (["c", "lost"], ""))
        let first = try ids(ListCollectionIDsRequest(pageSize: 1))
        #expect(first.ids == ["c"])
        // The token is also valid for another parent and for another time.
        let elsewhere = ListCollectionIDsRequest(
            parent: path("lost/one"), pageSize: 1, pageToken: first.next)
        #expect(try ids(elsewhere) == (["sub"], ""))
        let then = ListCollectionIDsRequest(
            pageToken: first.next, consistency: .at(try server.get("c/1000").updateTime))
        #expect(try ids(then).ids.isEmpty)
        #expect(
            refusal { _ = try ids(ListCollectionIDsRequest(pageSize: -1)) }
                == .invalidArgument("page_size must be greater than or equal to zero."))
    }

    @Test func `tokens that nobody made are refused, whatever is in them`() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<200 {
            var token = ""
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                token.append("0123456789abcdef".randomElement(using: &random)!)
            }
            let request = ListDocumentsRequest(collectionID: "c", pageToken: token)
            #expect(refusal { _ = try list(request) }?.code == .invalidArgument)
        }
    }
}
