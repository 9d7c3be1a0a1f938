import Testing

@testable import TidemarkModel

struct `Filters` {
    private static let f = field("f")

    private func matches(_ filter: Filter, _ value: Value?) -> Bool {
        var fields = MapValue()
        fields["f"] = value
        return Query(collectionID: "c", filter: filter).matches(fields)
    }

    /// An operator, an operand, and a string that marks with an `x` which of these values are rows:
    /// missing, null, NaN, 1, 2, 2.0, "a", [2], [2, null].
    @Test(arguments: [
        (Filter.Operator.equal, Value.integer(2), "....xx..."),
        (.equal, .double(2), "....xx..."),
        (.equal, .null, "........."),
        (.equal, .double(.nan), "........."),
        (.equal, .array([.double(2)]), ".......x."),
        (.notEqual, .integer(2), "..xx..xxx"),
        (.notEqual, .null, "........."),
        (.lessThan, .integer(2), "...x....."),
        (.lessThanOrEqual, .integer(2), "...xxx..."),
        (.greaterThan, .integer(1), "....xx..."),
        (.greaterThanOrEqual, .integer(1), "...xxx..."),
        (.lessThan, .double(.nan), "........."),
        (.greaterThanOrEqual, .double(.nan), "........."),
        (.greaterThan, .double(-.infinity), "...xxx..."),
        (.greaterThanOrEqual, .null, "........."),
        (.lessThan, .string("b"), "......x.."),
        (.greaterThan, .array([]), ".......xx"),
        (.greaterThan, .boolean(false), "........."),
        (.arrayContains, .integer(2), ".......xx"),
        (.arrayContains, .double(2), ".......xx"),
        (.arrayContains, .null, "........."),
        (.isIn, .array([.integer(2), .string("a")]), "....xxx.."),
        (.isIn, .array([.null, .double(.nan)]), "........."),
        (.isIn, .array([]), "........."),
        (.arrayContainsAny, .array([.integer(1), .integer(2)]), ".......xx"),
        (.arrayContainsAny, .array([.null]), "........."),
        (.notIn, .array([.integer(2)]), "..xx..xxx"),
        (.notIn, .array([.integer(1), .null]), "........."),
        (.notIn, .array([.double(.nan)]), "...xxxxxx"),
    ])
    func `find what the operator says`(
        operation: Filter.Operator, operand: Value, expected: String
    ) {
        let values: [Value?] = [
            nil, .null, .double(.nan), .integer(1), .integer(2), .double(2), .string("a"),
            .array([.integer(2)]), .array([.integer(2), .null]),
        ]
        let found = values.map { matches(.field(Self.f, operation, operand), $0) ? "x" : "." }
        #expect(found.joined() == expected)
    }

    @Test(arguments: [
        (Filter.UnaryOperator.isNull, ".x.."), (.isNotNull, "..xx"), (.isNaN, "..x."),
        (.isNotNaN, "...x"),
    ])
    func `find null and NaN by their own operators`(
        operation: Filter.UnaryOperator, expected: String
    ) {
        let values: [Value?] = [nil, .null, .double(.nan), .integer(1)]
        #expect(
            values.map { matches(.unary(Self.f, operation), $0) ? "x" : "." }.joined() == expected)
    }

    @Test func `a pending server timestamp is in no range of timestamps`() {
        let pending = Value.pendingServerTimestamp(localWriteTime: .epoch, previous: nil)
        #expect(!matches(.field(Self.f, .greaterThan, .timestamp(.min)), pending))
        #expect(matches(.field(Self.f, .notEqual, .timestamp(.epoch)), pending))
    }

    @Test func `an empty composite is no filter, wherever it stands`() {
        let one = Filter.field(Self.f, .equal, .integer(1))
        for nothing: Filter in [.and([]), .or([]), .or([.and([]), .or([])])] {
            #expect(nothing.isVacuous)
            #expect(matches(nothing, .integer(2)))
            #expect(matches(.and([nothing, one]), .integer(1)))
            #expect(!matches(.and([nothing, one]), .integer(2)))
            #expect(matches(.or([nothing, one]), .integer(1)))
            #expect(!matches(.or([nothing, one]), .integer(2)))
        }
    }

    @Test func `compare names as they compare fields`() {
        let query = Query(
            collectionID: "c", filter: .field(.documentID, .greaterThan, reference("c/b")))
        #expect(!query.matches(path("c/b"), [:], in: database))
        #expect(query.matches(path("c/c"), [:], in: database))
    }

    @Test func `the normal form means the same`() {
        var generator = Generator(seed: 14)
        var expanded = 0
        for _ in 0..<2_000 {
            let filter = generator.filter()
            guard let conjunctions = filter.disjunctiveNormalForm(limit: 100) else {
                #expect(filter.disjunctionCount > 100)
                continue
            }
            expanded += 1
            #expect(conjunctions.count == filter.disjunctionCount)
            for document in generator.documents(5) {
                let row = QueryRow(
                    path: document.path, fields: document.fields, database: database)
                let normal = conjunctions.contains { $0.allSatisfy { $0.matches(row) } }
                #expect(normal == filter.matches(row), "\(filter) on \(document.fields)")
            }
        }
        #expect(expanded > 1_000)
    }

    @Test func `the normal form is bounded before it is made`() {
        let ten = Filter.field(Self.f, .isIn, .array((0..<10).map { .integer($0) }))
        let huge = Filter.and(Array(repeating: ten, count: 40))
        #expect(huge.disjunctionCount == .max)
        #expect(huge.disjunctiveNormalForm(limit: 1_000_000) == nil)
        #expect(Filter.and([ten, ten]).disjunctiveNormalForm(limit: 100)?.count == 100)
        #expect(Filter.and([ten, ten]).disjunctiveNormalForm(limit: 99) == nil)
    }
}
