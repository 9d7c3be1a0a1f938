import TidemarkModel

/// Makes random messages from a seed, with many values at the limits. It makes nothing that the
/// protocol cannot express, such as an empty transaction id.
struct Generator {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func pick<T>(_ options: [T]) -> T { options.randomElement(using: &self)! }
    mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }
    mutating func chance(_ oneIn: Int) -> Bool { number(1...oneIn) == 1 }
    mutating func list<T>(upTo count: Int, _ make: (inout Self) -> T) -> [T] {
        (0..<number(0...count)).map { _ in make(&self) }
    }
    mutating func maybe<T>(_ make: (inout Self) -> T) -> T? { chance(2) ? make(&self) : nil }

    mutating func text() -> String { pick(["", "a", "é", "日本", "a,b` \\", "\u{10000}"]) }
    mutating func word() -> String { pick(["a", "b", "é", "e\u{301}", "x y", "`", "\\", "a,b"]) }
    mutating func bytes() -> [UInt8] { list(upTo: 5) { $0.pick([0, 1, 0x7F, 0x80, 0xFF]) } }
    mutating func token() -> [UInt8] { [1] + bytes() }
    mutating func count() -> Int { pick([0, 1, 7, 127, 128, 1_000, Int(Int32.max)]) }
    mutating func targetID() -> Int32 { pick([0, 1, 2, 7, .max]) }
    mutating func targetIDs() -> [Int32] { list(upTo: 3) { $0.targetID() } }

    mutating func time() -> Timestamp {
        Timestamp(
            seconds: pick([0, 1, -1, 1_700_000_000, -62_135_596_800, 253_402_300_799]),
            nanoseconds: pick([0, 1, 1_000, 999_999_999]))
    }

    mutating func id() -> String { pick(["a", "b", "é", "__id7__", "x.y", "a`b", "\u{10000}"]) }

    mutating func path() -> DocumentPath {
        let segments = (0..<2 * number(1...3)).map { _ in id() }
        return try! DocumentPath(segments.joined(separator: "/"))
    }

    mutating func field() -> FieldPath {
        try! FieldPath(segments: (0..<number(1...3)).map { _ in word() })
    }

    mutating func mask() -> [FieldPath]? { maybe { $0.list(upTo: 3) { $0.field() } } }

    mutating func value(depth: Int = 3) -> Value {
        switch number(0...(depth > 0 ? 11 : 8)) {
        case 0: .null
        case 1: .boolean(chance(2))
        case 2: .integer(pick([0, 1, -1, .max, .min]))
        case 3: .double(pick([0, -0.0, 1.5, .nan, .infinity]))
        case 4: .timestamp(time())
        case 5: .string(text())
        case 6: .bytes(bytes())
        case 7: .reference(ReferenceValue(database: database, path: path()))
        case 8: .geoPoint(GeoPoint(latitude: pick([0, 90, -0.5]), longitude: pick([0, 180])))
        case 9: .array(list(upTo: 4) { $0.value(depth: depth - 1) })
        case 10: .vector(VectorValue(list(upTo: 3) { $0.pick([0, 1.5, -0.0]) }))
        default: .map(fields(depth: depth - 1))
        }
    }

    mutating func fields(depth: Int = 3) -> MapValue {
        MapValue(list(upTo: 5) { ($0.text(), $0.value(depth: depth)) })
    }

    mutating func document() -> Document {
        Document(path: path(), fields: fields(), createTime: time(), updateTime: time())
    }

    mutating func filter(depth: Int = 2) -> Filter {
        switch number(0...(depth > 0 ? 3 : 1)) {
        case 0: .field(field(), pick(Filter.Operator.allCases), value(depth: 1))
        case 1: .unary(field(), pick(Filter.UnaryOperator.allCases))
        case 2: .and(list(upTo: 3) { $0.filter(depth: depth - 1) })
        default: .or(list(upTo: 3) { $0.filter(depth: depth - 1) })
        }
    }

    mutating func order() -> Order { Order(field(), chance(2) ? .ascending : .descending) }
    mutating func cursor() -> Cursor {
        Cursor(values: list(upTo: 2) { $0.value(depth: 1) }, before: chance(2))
    }

    mutating func query() -> Query {
        Query(
            parent: maybe { $0.path() }, collectionID: maybe { $0.id() }, allDescendants: chance(3),
            filter: maybe { $0.filter() }, orders: list(upTo: 3) { $0.order() },
            start: maybe { $0.cursor() }, end: maybe { $0.cursor() }, offset: count(),
            limit: maybe { .first($0.count()) },
            projection: maybe { [$0.field()] + $0.list(upTo: 2) { $0.field() } },
            findNearest: chance(3) ? findNearest() : nil)
    }

    mutating func findNearest() -> FindNearest {
        FindNearest(
            field: field(), vector: list(upTo: 3) { $0.pick([0, 1.5, -0.0, .infinity]) },
            measure: pick(FindNearest.DistanceMeasure.allCases), limit: count(),
            distanceField: maybe { $0.field() }, threshold: maybe { $0.pick([0, -1.5, 1e300]) })
    }

    mutating func transaction() -> TransactionOptions {
        chance(2) ? .readWrite(retrying: maybe { $0.token() }) : .readOnly(at: maybe { $0.time() })
    }

    mutating func consistency(upTo kinds: Int = 3) -> ReadConsistency {
        switch number(0...kinds) {
        case 0: .latest
        case 1: .at(time())
        case 2: .transaction(token())
        default: .newTransaction(transaction())
        }
    }

    mutating func precondition() -> Precondition {
        pick([.none, .exists(true), .exists(false), .updateTime(time())])
    }

    mutating func transform() -> FieldTransform {
        let operation: FieldTransform.Operation =
            switch number(0...5) {
            case 0: .serverTimestamp
            case 1: .increment(value(depth: 0))
            case 2: .maximum(value(depth: 0))
            case 3: .minimum(value(depth: 0))
            case 4: .arrayUnion(list(upTo: 3) { $0.value(depth: 1) })
            default: .arrayRemove(list(upTo: 3) { $0.value(depth: 1) })
            }
        return FieldTransform(field(), operation)
    }

    mutating func mutation() -> Mutation {
        let path = path()
        let precondition = precondition()
        return switch number(0...3) {
        case 0:
            Mutation(
                path: path, .set(fields()), transforms: list(upTo: 2) { $0.transform() },
                precondition: precondition)
        case 1:
            Mutation(
                path: path, .patch(fields(), mask: mask() ?? []),
                transforms: list(upTo: 2) { $0.transform() }, precondition: precondition)
        case 2: Mutation(path: path, .delete, precondition: precondition)
        default: Mutation(path: path, .verify, precondition: precondition)
        }
    }

    mutating func result() -> MutationResult {
        MutationResult(
            updateTime: maybe { $0.time() }, transformResults: list(upTo: 2) { $0.value(depth: 1) })
    }

    mutating func status() -> RPCStatus {
        RPCStatus(pick(RPCStatus.Code.allCases), text(), details: list(upTo: 4) { $0.detail() })
    }

    private mutating func detail() -> RPCStatus.Detail {
        switch number(0...2) {
        case 0:
            .errorInfo(
                reason: word(), domain: text(), metadata: chance(2) ? [:] : [word(): text()])
        case 1: .help(description: text(), url: text())
        default: .badRequest(field: text(), description: text())
        }
    }

    mutating func explain() -> ExplainMetrics {
        ExplainMetrics(
            indexesUsed: list(upTo: 2) { IndexUse(queryScope: $0.text(), properties: $0.text()) },
            execution: maybe { $0.executionStats() })
    }

    private mutating func executionStats() -> ExecutionStats {
        ExecutionStats(
            resultsReturned: pick([0, 1, .max]), readOperations: pick([0, 1, .max]),
            duration: pick([.zero, .nanoseconds(1), .milliseconds(1_500)]),
            debugStats: [
                "documents_scanned": .text(text()),
                "billing_details": .group(["min_query_cost": .text(text()), "none": .group([:])]),
            ])
    }
}

extension Generator: RandomNumberGenerator {
    mutating func next() -> UInt64 { random.next() }
}
