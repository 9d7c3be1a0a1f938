import Testing
import TidemarkModel

/// The server answers every request, or refuses it with a reason. Clients take `INTERNAL` and
/// `UNKNOWN` for faults of the server and repeat the request for minutes.
struct OddRequestTests {
    private static let refusals: Set<RPCStatus.Code> = [
        .invalidArgument, .failedPrecondition, .notFound, .unimplemented, .aborted,
        .alreadyExists,
    ]

    private func server() throws -> TestServer {
        let server = try TestServer()
        try server.commit(
            set("c/a", ["a": .integer(1), "v": .vector(VectorValue([1, 2]))]),
            set("c/b", ["a": .array([.null, .integer(1)]), "b": .map(["x": .double(.nan)])]),
            set("c/d", ["a": .string("x"), "v": .vector(VectorValue([0, 0]))]),
            set("c/a/c/a", ["a": .null]), set("lost/only/sub/y", ["b": .boolean(true)]))
        server.machine.advance(.seconds(1))
        try server.commit(set("c/a", ["a": .integer(2)]), delete("c/b"))
        return server
    }

    @Test(arguments: UInt64(0)..<150)
    func `odd reads are answered or refused`(seed: UInt64) throws {
        let server = try server()
        var odd = OddRequests(seed: seed, server)
        for _ in 0..<20 {
            let request = odd.request()
            do { _ = try server.replies(request) } catch {
                let status = try #require(error as? RPCStatus)
                #expect(
                    Self.refusals.contains(status.code) && !status.message.isEmpty,
                    "seed \(seed): \(status) to \(request)")
            }
        }
    }

    @Test(arguments: UInt64(0)..<60)
    func `odd targets begin or end with a cause`(seed: UInt64) throws {
        let server = try server()
        var odd = OddRequests(seed: seed, server)
        for id in Int32(1)...10 {
            let listen = server.listen()
            let query = odd.query()
            let told = listen.add(target(id, query))
            try server.commit(set("c/new\(seed)", ["a": .integer(Int64(id))]))
            _ = listen.take()
            guard case .targetChange(let last)? = told.last else {
                Issue.record("seed \(seed): nothing is said to \(query)")
                continue
            }
            if last.kind == .remove {
                let code = try #require(last.cause?.code)
                #expect(Self.refusals.contains(code), "seed \(seed): \(query)")
            } else {
                #expect(last.kind == .noChange)
            }
        }
    }
}

/// Combines random parts into requests.
private struct OddRequests {
    private var random: SeededRandom
    private let server: TestServer

    init(seed: UInt64, _ server: TestServer) {
        random = SeededRandom(seed: seed)
        self.server = server
    }

    private mutating func pick<T>(_ options: [T]) -> T { options.randomElement(using: &random)! }
    private mutating func chance(_ oneIn: Int) -> Bool {
        Int.random(in: 1...oneIn, using: &random) == 1
    }
    private mutating func some<T>(_ count: Int, _ make: (inout Self) -> T) -> [T] {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in make(&self) }
    }

    private mutating func field() -> FieldPath {
        pick([
            .documentID, FieldPath(unchecked: ["a"]), FieldPath(unchecked: ["b", "x"]),
            FieldPath(unchecked: ["v"]), FieldPath(unchecked: ["__x__"]),
            FieldPath(unchecked: ["a", "__name__"]),
            FieldPath(unchecked: [String(repeating: "f", count: 1_600)]),
        ])
    }

    private mutating func value() -> Value {
        let name = pick(["c/a", "c/none", "other/x", "c/a/c/a"])
        return pick([
            .null, .double(.nan), .integer(1), .double(-0.0), .string(""), .boolean(true),
            .bytes([]), .timestamp(Timestamp(seconds: 0, nanoseconds: 1)), .array([]),
            .array([.null, .integer(1)]), .array((0..<40).map { .integer($0) }), .map([:]),
            .vector(VectorValue([1, 2])), .geoPoint(GeoPoint(latitude: 0, longitude: 0)),
            .reference(ReferenceValue(database: server.database, path: path(name))),
            .array([.reference(ReferenceValue(database: server.database, path: path(name)))]),
            .pendingServerTimestamp(localWriteTime: .epoch, previous: nil),
        ])
    }

    private mutating func filter(depth: Int = 2) -> Filter {
        switch Int.random(in: 0...(depth > 0 ? 3 : 1), using: &random) {
        case 0: .field(field(), pick(Filter.Operator.allCases), value())
        case 1: .unary(field(), pick(Filter.UnaryOperator.allCases))
        case 2: .and(some(3) { $0.filter(depth: depth - 1) })
        default: .or(some(3) { $0.filter(depth: depth - 1) })
        }
    }

    private mutating func search() -> FindNearest {
        FindNearest(
            field: field(), vector: pick([[], [1, 2], [0, 0], [.nan, 1], [.infinity, 1]]),
            measure: pick(FindNearest.DistanceMeasure.allCases), limit: pick([-1, 0, 1, 1_000]),
            distanceField: chance(2) ? field() : nil, threshold: pick([nil, 0.5, .nan]))
    }

    mutating func query() -> Query {
        Query(
            parent: pick([nil, nil, path("c/a"), path("lost/only")]),
            collectionID: pick(["c", "c", "c", "sub", "none", "a/b", "__x__", nil]),
            allDescendants: chance(3), filter: chance(2) ? filter() : nil,
            orders: some(2) { Order($0.field(), $0.pick([.ascending, .descending])) },
            start: chance(3)
                ? Cursor(values: some(3) { $0.value() }, before: chance(2)) : nil,
            end: chance(3) ? Cursor(values: some(3) { $0.value() }, before: chance(2)) : nil,
            offset: pick([0, 0, 1, Int(Int32.max)]),
            limit: pick([nil, nil, .first(1), .first(0), .first(-1), .first(Int(Int32.max))]),
            projection: chance(3) ? some(2) { $0.field() } : nil,
            findNearest: chance(4) ? search() : nil)
    }

    private mutating func consistency() -> ReadConsistency {
        let now = server.machine.now
        return pick([
            .latest, .latest, .at(now), .at(now.advanced(by: .milliseconds(-500))),
            .at(now.advanced(by: .seconds(10))), .at(.epoch), .transaction([]),
            .transaction([1, 2, 3]), .newTransaction(.readOnly(at: nil)),
            .newTransaction(.readOnly(at: now)), .newTransaction(.readWrite(retrying: [9])),
        ])
    }

    private mutating func token() -> String {
        pick(["", "", "zz", "00", "0a", "ff", String(repeating: "0", count: 99)])
    }

    mutating func request() -> Request {
        let paths = [path("c/a"), path("c/none"), path("c/a")]
        let mask = chance(2) ? some(2) { $0.field() } : nil
        return switch Int.random(in: 0...6, using: &random) {
        case 0:
            .getDocument(
                GetDocumentRequest(path: pick(paths), mask: mask, consistency: consistency()))
        case 1:
            .batchGetDocuments(
                BatchGetDocumentsRequest(paths: paths, mask: mask, consistency: consistency()))
        case 2: .runQuery(RunQueryRequest(query: query(), consistency: consistency()))
        case 3:
            .runAggregationQuery(
                RunAggregationQueryRequest(
                    query: query(), aggregations: some(6) { $0.aggregation() },
                    consistency: consistency()))
        case 4:
            .listDocuments(
                ListDocumentsRequest(
                    parent: pick([nil, path("c/a")]),
                    collectionID: pick([nil, "c", "a/b", "lost"]),
                    pageSize: pick([-1, 0, 1, .max]), pageToken: token(),
                    orders: some(2) { Order($0.field()) }, mask: mask, showMissing: chance(2),
                    consistency: consistency()))
        case 5:
            .listCollectionIDs(
                ListCollectionIDsRequest(
                    parent: pick([nil, path("c/a")]), pageSize: pick([-1, 0, 1, .max]),
                    pageToken: token(), consistency: consistency()))
        default:
            .partitionQuery(
                PartitionQueryRequest(
                    query: query(), partitionCount: pick([-1, 0, 1, .max]),
                    pageSize: pick([-1, 0, 1, .max]), pageToken: token(),
                    consistency: consistency()))
        }
    }

    private mutating func aggregation() -> Aggregation {
        let alias = pick(["", "x", "y", "__x__", String(repeating: "l", count: 1_600)])
        return Aggregation(
            alias: alias,
            pick([
                .count(upTo: nil), .count(upTo: 0), .count(upTo: -1), .count(upTo: .max),
                .sum(field()), .average(field()),
            ]))
    }
}
