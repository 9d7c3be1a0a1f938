import Testing
import TidemarkModel
import TidemarkTestKit

/// Checks the oracle against cases written by hand from Firestore's documentation, with the
/// documented rows.
struct OracleCaseTests {
    private static let database = try! DatabaseID(project: "cases")
    private static let f = FieldPath(name: "f")

    /// - Parameter fields: The fields of each document, by the document's id.
    private static func rows(_ query: Query, _ fields: [String: MapValue]) -> String {
        let documents = fields.map { id, fields in
            (path: DocumentPath(unchecked: "c/\(id)"), fields: fields)
        }
        return QueryOracle(query, in: database).rows(of: documents).map(\.path.id)
            .joined(separator: " ")
    }

    private static func name(_ path: String) -> Value {
        .reference(ReferenceValue(database: database, path: DocumentPath(unchecked: path)))
    }

    /// The order of Firestore's documentation, "Value type ordering", with values of each kind,
    /// ascending.
    private static let ascending: [Value] = [
        .null, .boolean(false), .boolean(true), .double(.nan), .double(-.infinity),
        .integer(.min), .integer(-1), .double(-0.5), .integer(0), .double(0.5), .integer(1),
        .integer((1 << 53) - 1), .double(0x1p53), .integer((1 << 53) + 1), .integer(.max),
        .double(0x1p63), .double(.infinity),
        .timestamp(Timestamp(seconds: -1, nanoseconds: 999_999_000)),
        .timestamp(Timestamp(seconds: 0, nanoseconds: 0)),
        .timestamp(Timestamp(seconds: 0, nanoseconds: 1_000)),
        .string(""), .string("B"), .string("a"), .string("aa"), .string("e\u{301}"),
        .string("é"), .string("日"), .string("\u{FFFD}"), .string("\u{1F600}"),
        .bytes([]), .bytes([0]), .bytes([0, 1]), .bytes([255]),
        name("c/__id-3__"), name("c/__id7__"), name("c/__id10__"), name("c/a"), name("c/a/d/b"),
        name("c/b"), name("d/a"),
        .geoPoint(GeoPoint(latitude: -1, longitude: 5)),
        .geoPoint(GeoPoint(latitude: 0, longitude: -5)),
        .geoPoint(GeoPoint(latitude: 0, longitude: 5)),
        .array([]), .array([.integer(1)]), .array([.integer(1), .null]), .array([.integer(2)]),
        .vector(VectorValue([5])), .vector(VectorValue([1, 1])), .vector(VectorValue([1, 2])),
        .map([:]), .map(["a": .integer(1)]), .map(["a": .integer(1), "b": .null]),
        .map(["a": .integer(2)]), .map(["b": .null]),
    ]

    @Test func `values of all kinds come in the documented order`() {
        var fields: [String: MapValue] = [:]
        // The names are in the reverse order, so a correct result cannot be an accident.
        for (place, value) in Self.ascending.enumerated() {
            fields["d\(999 - place)"] = ["f": value]
        }
        let expected = Self.ascending.indices.map { "d\(999 - $0)" }
        let query = Query(collectionID: "c", orders: [Order(Self.f)])
        #expect(Self.rows(query, fields) == expected.joined(separator: " "))
        var flipped = query
        flipped.orders = [Order(Self.f, .descending)]
        #expect(
            Self.rows(flipped, fields) == expected.reversed().joined(separator: " "))
    }

    @Test func `equal numbers are level, and the name decides`() {
        let fields: [String: MapValue] = [
            "c": ["f": .double(-0.0)], "a": ["f": .integer(0)], "b": ["f": .double(0)],
            "d": ["f": .integer(3)], "e": ["f": .double(3)],
        ]
        let up = Query(collectionID: "c", orders: [Order(Self.f)])
        #expect(Self.rows(up, fields) == "a b c d e")
        let down = Query(collectionID: "c", orders: [Order(Self.f, .descending)])
        #expect(Self.rows(down, fields) == "e d c b a")
    }

    /// An `x` in a string marks a row among these values: missing, null, NaN, 1, 2, 2.0, "a", [2],
    /// [2, null].
    @Test(arguments: [
        (Filter.Operator.equal, Value.integer(2), "....xx..."),
        (.equal, .null, "........."), (.equal, .double(.nan), "........."),
        (.notEqual, .integer(2), "..xx..xxx"), (.notEqual, .null, "........."),
        (.lessThan, .integer(2), "...x....."), (.lessThanOrEqual, .integer(2), "...xxx..."),
        (.greaterThanOrEqual, .integer(1), "...xxx..."), (.lessThan, .double(.nan), "........."),
        (.lessThan, .string("b"), "......x.."), (.greaterThan, .array([]), ".......xx"),
        (.greaterThan, .boolean(false), "........."),
        (.arrayContains, .double(2), ".......xx"), (.arrayContains, .null, "........."),
        (.isIn, .array([.integer(2), .string("a")]), "....xxx.."),
        (.isIn, .array([.null, .double(.nan)]), "........."),
        (.arrayContainsAny, .array([.integer(1), .integer(2)]), ".......xx"),
        (.notIn, .array([.integer(2)]), "..xx..xxx"),
        (.notIn, .array([.integer(1), .null]), "........."),
        (.notIn, .array([.double(.nan)]), "...xxxxxx"),
    ])
    func `a filter finds what its operator says`(
        operation: Filter.Operator, operand: Value, expected: String
    ) {
        let values: [Value?] = [
            nil, .null, .double(.nan), .integer(1), .integer(2), .double(2), .string("a"),
            .array([.integer(2)]), .array([.integer(2), .null]),
        ]
        let query = Query(collectionID: "c", filter: .field(Self.f, operation, operand))
        let oracle = QueryOracle(query, in: Self.database)
        let found = values.map { value in
            var fields = MapValue()
            fields["f"] = value
            return oracle.matches(DocumentPath(unchecked: "c/a"), fields) ? "x" : "."
        }
        #expect(found.joined() == expected)
    }

    private static let people: [String: MapValue] = [
        "ann": ["f": .integer(1), "g": .integer(9)], "ben": ["f": .integer(2)],
        "cem": ["f": .integer(2), "g": .integer(7)], "dan": ["g": .integer(8)],
        "eve": ["f": .integer(3), "g": .null],
    ]

    /// A cursor is before or after all rows with its values. Its values may be a prefix.
    @Test(arguments: [
        (true, Cursor(values: [.integer(2)], before: true), "ben cem eve"),
        (true, Cursor(values: [.integer(2)], before: false), "eve"),
        (true, Cursor(values: [.integer(2), name("c/ben")], before: false), "cem eve"),
        (false, Cursor(values: [.integer(2)], before: true), "ann"),
        (false, Cursor(values: [.integer(2)], before: false), "ann ben cem"),
        (true, Cursor(values: [.string("")], before: true), ""),
        (false, Cursor(values: [.null], before: false), ""),
    ])
    func `cursors cut where they say`(isStart: Bool, cursor: Cursor, expected: String) {
        var query = Query(collectionID: "c", orders: [Order(Self.f)])
        if isStart { query.start = cursor } else { query.end = cursor }
        #expect(Self.rows(query, Self.people) == expected)
    }

    @Test func `orders, missing fields, offset and limits`() {
        var query = Query(collectionID: "c")
        #expect(Self.rows(query, Self.people) == "ann ben cem dan eve")
        query.orders = [Order(FieldPath(name: "g"), .descending)]
        // A document without the field is no row, but null is a value.
        #expect(Self.rows(query, Self.people) == "ann dan cem eve")
        query.limit = .last(2)
        #expect(Self.rows(query, Self.people) == "cem eve")
        query.limit = .first(2)
        query.offset = 1
        #expect(Self.rows(query, Self.people) == "dan cem")
    }

    @Test func `inequalities add their fields to the order, by name`() {
        let g = FieldPath(name: "g")
        let query = Query(
            collectionID: "c",
            filter: .and([
                .field(g, .greaterThan, .integer(0)), .field(Self.f, .notEqual, .integer(5)),
            ]))
        // The order is by f and then g: 1, 2. An order by g alone would give the opposite result.
        #expect(Self.rows(query, Self.people) == "ann cem")
        var down = query
        down.orders = [Order(g, .descending)]
        #expect(Self.rows(down, Self.people) == "ann cem")
        let unequal = Query(collectionID: "c", filter: .field(Self.f, .notEqual, .integer(2)))
        #expect(Self.rows(unequal, Self.people) == "ann eve")
    }

    @Test func `one collection, or all of that id below a document`() {
        let paths = ["c/a", "c/a/c/b", "c/a/c/b/c/z", "x/y/c/d", "cc/e"]
        func found(_ query: Query) -> String {
            QueryOracle(query, in: Self.database)
                .rows(of: paths.map { (DocumentPath(unchecked: $0), [:]) }).map(\.path.id)
                .joined(separator: " ")
        }
        #expect(found(Query(collectionID: "c")) == "a")
        #expect(found(Query(collectionID: "c", allDescendants: true)) == "a b z d")
        let below = DocumentPath(unchecked: "c/a")
        #expect(found(Query(parent: below, collectionID: "c")) == "b")
        #expect(found(Query(parent: below, collectionID: "c", allDescendants: true)) == "b z")
    }
}
