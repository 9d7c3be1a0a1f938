import Testing

@testable import TidemarkModel

struct `The rules for queries` {
    private static let a = field("a")
    private static let b = field("b")

    private static func list(_ count: Int) -> Value {
        .array((0..<Int64(count)).map { .integer($0) })
    }
    private static func filtered(_ filters: Filter...) -> Query {
        Query(collectionID: "c", filter: .and(filters))
    }
    private static func ordered(_ orders: Order...) -> Query {
        Query(collectionID: "c", orders: orders)
    }

    /// Queries that production accepted in a recording, and queries exactly at a limit.
    static let served: [Query] = [
        Query(collectionID: "c"), Query(collectionID: nil), filtered(), filtered(.or([])),
        filtered(.field(a, .equal, .null)), filtered(.field(a, .lessThan, .double(.nan))),
        filtered(.field(a, .notEqual, .null)), filtered(.field(a, .isIn, list(30))),
        filtered(.field(a, .notIn, list(10))), filtered(.field(a, .notIn, .array([.null]))),
        filtered(.field(a, .isIn, list(5)), .field(b, .arrayContainsAny, list(6))),
        filtered(.field(a, .arrayContains, .null), .field(b, .isIn, list(30))),
        filtered(.or([.field(a, .arrayContains, .null), .field(b, .arrayContains, .null)])),
        filtered(.field(a, .notIn, list(1)), .or([.field(b, .equal, .integer(1))])),
        filtered(.field(.documentID, .isIn, .array([reference("c/x")]))),
        ordered(Order(a), Order(.documentID, .descending)),
        Query(collectionID: "c", orders: [Order(a)], start: Cursor(values: [], before: true)),
        Query(
            collectionID: "c", orders: [Order(a)],
            start: Cursor(values: [.map([:]), reference("elsewhere/x")], before: true)),
        Query(parent: path("c/x"), collectionID: "d", allDescendants: true),
        Query(
            parent: path("c/x"), collectionID: nil, allDescendants: true,
            start: Cursor(values: [reference("c/__id-9223372036854775808__")], before: true),
            limit: .first(5_000), projection: [.documentID]),
        Query(collectionID: "c", limit: .first(0)), Query(collectionID: "____"),
    ]

    @Test(arguments: served)
    func `let pass what production serves`(query: Query) throws {
        try query.validate()
    }

    @Test(arguments: [
        (
            filtered(.field(a, .arrayContains, .null), .field(b, .arrayContains, .null)),
            "A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction."
        ),
        (
            filtered(.field(a, .arrayContains, .null), .field(b, .arrayContainsAny, list(2))),
            "A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction."
        ),
        (filtered(.field(a, .isIn, .array([]))), "'IN' requires an non-empty ArrayValue."),
        (filtered(.field(a, .isIn, .integer(1))), "'IN' requires an non-empty ArrayValue."),
        (filtered(.field(a, .notIn, .array([]))), "'NOT_IN' requires an non-empty ArrayValue."),
        (
            filtered(.field(a, .arrayContainsAny, .array([]))),
            "'ARRAY_CONTAINS_ANY' requires an non-empty ArrayValue."
        ),
        (filtered(.field(a, .isIn, list(31))), "30 disjunctions"),
        (
            filtered(.field(a, .isIn, list(6)), .field(b, .arrayContainsAny, list(6))),
            "30 disjunctions"
        ),
        (filtered(.field(a, .notIn, list(11))), "'NOT_IN' supports up to 10"),
        (
            filtered(.field(a, .notIn, list(1)), .field(b, .notEqual, .integer(1))),
            "Only a single 'NOT_EQUAL'"
        ),
        (filtered(.field(a, .notEqual, .integer(1)), .unary(b, .isNotNull)), "Only a single"),
        (filtered(.unary(a, .isNotNaN), .unary(b, .isNotNull)), "Only a single"),
        (filtered(.field(a, .notIn, list(1)), .field(b, .isIn, list(1))), "'NOT_IN' cannot"),
        (
            filtered(
                .field(a, .notIn, list(1)),
                .or([.field(b, .equal, .integer(1)), .field(b, .equal, .integer(2))])),
            "'NOT_IN' cannot"
        ),
        (
            Query(
                collectionID: "c",
                filter: .and(
                    (0..<11).map { .field(field("f\($0)"), .greaterThan, .integer(1)) })),
            "at most 10 fields"
        ),
        (filtered(.field(.documentID, .equal, .string("x"))), "__key__ filter value must be a Key"),
        (
            filtered(.field(.documentID, .arrayContains, reference("c/x"))),
            "__key__ filter value must be a Key"
        ),
        (
            filtered(.field(FieldPath(unchecked: ["a", "__x__"]), .equal, .null)),
            "Invalid reserved name in field path __x__"
        ),
        (
            ordered(Order(FieldPath(unchecked: [String(repeating: "a", count: 1_501)]))),
            "property path is longer than 1500 bytes."
        ),
        (ordered(Order(a), Order(a, .descending)), "duplicate fields a"),
        (ordered(Order(.documentID), Order(a)), "more fields after the key"),
        (
            Query(
                collectionID: "c", orders: [Order(a)],
                end: Cursor(values: [.null, reference("c/x"), .null], before: true)),
            "Cursor has too many values."
        ),
        (
            Query(collectionID: "c", start: Cursor(values: [.string("x")], before: true)),
            "must be a document name"
        ),
        (Query(collectionID: "c", limit: .first(-1)), "limit is negative"),
        (
            Query(collectionID: "a/b"),
            "Collection id \"a/b\" is invalid because it contains \"/\"."
        ),
        (
            Query(collectionID: "__x__"),
            "Collection id \"__x__\" is invalid because it is reserved."
        ),
        (Query(collectionID: "."), "Collection id \".\" is invalid because it is reserved."),
        (
            Query(collectionID: String(repeating: "a", count: 1_501)),
            "The query kind is longer than 1500 bytes."
        ),
        (
            Query(
                parent: path("c/x"), collectionID: "d", allDescendants: true, orders: [Order(a)]),
            "collection group queries are only allowed at the root parent"
        ),
        (
            Query(
                collectionID: nil, allDescendants: true, orders: [Order(.documentID, .descending)]),
            "kind is required for all orders except __key__ ascending"
        ),
        (
            Query(collectionID: nil, filter: .field(a, .equal, .integer(1))),
            "kind is required for filter: a"
        ),
        (
            Query(collectionID: "c", projection: [field("__x__")]),
            "Invalid reserved name in field path __x__"
        ),
    ])
    func `refuse what production refuses, in its words`(query: Query, text: String) {
        let status = #expect(throws: RPCStatus.self) { try query.validate() }
        #expect(status?.code == .invalidArgument)
        #expect(status?.message.contains(text) == true, "\(String(describing: status?.message))")
    }

    @Test func `take no time for filters that explode`() {
        let pair = Filter.or([
            .field(Self.a, .equal, .integer(1)), .field(Self.a, .equal, .integer(2)),
        ])
        let query = Query(collectionID: "c", filter: .and(Array(repeating: pair, count: 500)))
        #expect(throws: RPCStatus.self) { try query.validate() }
    }
}
