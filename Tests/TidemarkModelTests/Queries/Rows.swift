import TidemarkModel

let database = try! DatabaseID(project: "p")

func path(_ text: String) -> DocumentPath { try! DocumentPath(text) }
func field(_ text: String) -> FieldPath { try! FieldPath(encoded: text) }

func reference(_ text: String) -> Value {
    .reference(ReferenceValue(database: database, path: path(text)))
}

extension Query {
    /// True if a document `c/x` with these fields is a row.
    func matches(_ fields: MapValue) -> Bool { matches(path("c/x"), fields, in: database) }

    /// Returns the rows of the query: filter and sort, then offset and limit.
    func rows(_ documents: [(path: DocumentPath, fields: MapValue)]) -> [DocumentPath] {
        let matching = documents.filter { matches($0.path, $0.fields, in: database) }
            .sorted { compare($0, $1, in: database) == .ascending }.map(\.path)
            .dropFirst(offset)
        return switch limit {
        case .first(let count): Array(matching.prefix(count))
        case .last(let count): Array(matching.suffix(count))
        case nil: Array(matching)
        }
    }
}

extension Generator {
    /// Makes documents of collection `c`, whose fields `a`, `b`, `c` are often missing or of
    /// different types.
    mutating func documents(_ count: Int) -> [(path: DocumentPath, fields: MapValue)] {
        (0..<count).map { index in
            let names = ["a", "b", "c"].filter { _ in !chance(5) }
            return (path("c/d\(index)"), MapValue(names.map { ($0, smallValue()) }))
        }
    }

    /// Picks from few values, so rows often tie and filters often match.
    mutating func smallValue() -> Value {
        pick([
            .null, .boolean(true), .integer(1), .integer(2), .double(2), .double(2.5),
            .double(.nan), .double(-0.0), .integer(0), .string("a"), .string("b"),
            .array([.integer(1), .string("a")]), .array([.integer(2)]), .map(["x": .integer(1)]),
            .timestamp(.epoch), .pendingServerTimestamp(localWriteTime: .epoch, previous: nil),
        ])
    }

    mutating func smallField() -> FieldPath { field(pick(["a", "b", "c", "c.x"])) }

    mutating func filter(depth: Int = 2) -> Filter {
        switch number(0...(depth > 0 ? 5 : 3)) {
        case 0: .unary(smallField(), pick(Filter.UnaryOperator.allCases))
        case 1, 2, 3: comparison()
        case 4: .and(list(upTo: 3) { $0.filter(depth: depth - 1) })
        default: .or(list(upTo: 3) { $0.filter(depth: depth - 1) })
        }
    }

    private mutating func comparison() -> Filter {
        let operation = pick(Filter.Operator.allCases)
        let operand: Value =
            operation.takesList ? .array(list(upTo: 3) { $0.smallValue() }) : smallValue()
        return .field(smallField(), operation, operand)
    }

    mutating func orders() -> [Order] {
        var seen: Set<FieldPath> = []
        return list(upTo: 2) {
            Order($0.smallField(), $0.pick([.ascending, .descending]))
        }.filter { seen.insert($0.field).inserted }
    }

    mutating func query() -> Query {
        Query(
            parent: chance(3) ? documentPath() : nil, collectionID: chance(4) ? nil : id(),
            allDescendants: chance(3), filter: chance(2) ? filter() : nil, orders: orders(),
            start: chance(3) ? cursor() : nil, end: chance(3) ? cursor() : nil,
            offset: chance(4) ? number(1...3) : 0,
            limit: chance(3) ? .first(number(0...3)) : (chance(3) ? .last(number(0...3)) : nil),
            projection: chance(4) ? list(upTo: 2) { $0.fieldPath() } : nil)
    }

    mutating func cursor() -> Cursor {
        Cursor(values: list(upTo: 2) { $0.smallValue() }, before: chance(2))
    }
}
