import Testing
import TidemarkModel

@testable import TidemarkConsole

struct QueryTextTests {
    private let database = try! DatabaseID(project: "demo")

    private func parse(_ text: String) throws(QueryTextError) -> TidemarkModel.Query {
        try QueryText.parse(text, in: database).query
    }

    @Test func `a query has conditions, orders and a limit`() throws {
        let query = try parse(
            #"rooms/blue/messages where n >= 3 and owner == "ann \"x\"" order by n desc, at limit 50"#
        )
        #expect(query.collection?.text == "rooms/blue/messages")
        #expect(
            query.filter
                == .and([
                    .field(FieldPath(name: "n"), .greaterThanOrEqual, .integer(3)),
                    .field(FieldPath(name: "owner"), .equal, .string("ann \"x\"")),
                ]))
        #expect(query.orders.map(\.direction) == [.descending, .ascending])
        #expect(query.limit == .first(50))
    }

    @Test(arguments: [
        ("3", Value.integer(3)), ("-3", .integer(-3)), ("3.0", .double(3)), ("1e3", .double(1000)),
        ("9223372036854775807", .integer(.max)), ("NaN", .double(.nan)), ("-0.0", .double(-0.0)),
        ("true", .boolean(true)), ("null", .null), ("\"a b\"", .string("a b")),
        ("[1, \"x\", []]", .array([.integer(1), .string("x"), .array([])])),
        (
            "timestamp \"2026-11-24T10:00:00.000001Z\"",
            .timestamp(Timestamp(seconds: 1_795_514_400, nanoseconds: 1_000))
        ),
    ])
    func `values keep their types`(text: String, value: Value) throws {
        #expect(
            try parse("a where f == \(text)").filter == .field(FieldPath(name: "f"), .equal, value))
    }

    @Test func `references, groups and quoted fields`() throws {
        let reference = ReferenceValue(database: database, path: try DocumentPath("rooms/blue"))
        let query = try parse("**/messages where `a b`.c in [ref \"rooms/blue\"]")
        #expect(query.allDescendants && query.collectionID == "messages" && query.parent == nil)
        #expect(
            query.filter
                == .field(
                    try FieldPath(segments: ["a b", "c"]), .isIn, .array([.reference(reference)])))
        #expect(try parse("rooms/blue/**/x").parent?.text == "rooms/blue")
        #expect(
            try parse("a where b is not null").filter == .unary(FieldPath(name: "b"), .isNotNull))
    }

    @Test(arguments: [
        "", "rooms/blue", "rooms//x", "rooms where", "rooms where n", "rooms where n ~ 3",
        "rooms where n >= ", "rooms where n == \"open", "rooms where n == [1", "rooms order n",
        "rooms limit -1", "rooms limit x", "rooms nonsense", "rooms where n == blue", "[",
        "rooms where n is 3", "rooms where t == timestamp 3", "rooms where t == ref \"a\"",
    ])
    func `what is no query is refused with a sentence`(text: String) {
        let error = #expect(throws: QueryTextError.self) { try parse(text) }
        #expect(error?.message.last == "." || error?.message.isEmpty == false)
    }

    @Test func `a query's own sentence is a query again`() throws {
        for text in [
            "rooms where a == 3 and b > 2.5 order by b desc limit 7",
            "**/messages where x array-contains \"y\"", "rooms/blue/messages",
            "rooms where a is null offset 3", "rooms where (a == 1 or b == 2) and c == 3",
            "rooms where a == 1 or (b == 2 and c == \"x \\\" \\n\")",
            "rooms where t > timestamp \"2026-11-24T10:00:00.000001Z\" order by t last 3",
            "rooms where r == ref \"users/bob\" and p == point(1.5, -2.0)",
            "rooms where v == vector[1.0, -0.0] and y == bytes \"AP8=\"",
            "rooms order by n start after [7] end at [9, \"x\"] limit 4",
            "rooms nearest `a b` to [1.0, 2.0] by dot-product limit 5",
        ] {
            let query = try parse(text)
            #expect(try parse(query.sentence) == query, "\(text)")
            #expect(query.sentence == text)
        }
    }

    @Test func `parentheses and words join conditions as they say`() throws {
        func equal(_ name: String, _ value: Int64) -> ModelFilter {
            .field(FieldPath(name: name), .equal, .integer(value))
        }
        #expect(
            try parse("r where a == 1 or b == 2 and c == 3").filter
                == .or([equal("a", 1), .and([equal("b", 2), equal("c", 3)])]))
        #expect(
            try parse("r where (a == 1 or b == 2) and c == 3").filter
                == .and([.or([equal("a", 1), equal("b", 2)]), equal("c", 3)]))
        let deep = String(repeating: "(", count: 1_000)
        #expect(throws: QueryTextError.self) { try parse("r where \(deep)a == 1") }
    }

    @Test func `what is computed stands before of`() throws {
        let asked = try QueryText.parse(
            "count, sum of n, average of m.x of rooms where a == 1 limit 5", in: database)
        #expect(
            asked.aggregations.map(\.operation) == [
                .count(upTo: nil), .sum(FieldPath(name: "n")),
                .average(try FieldPath(segments: ["m", "x"])),
            ])
        #expect(asked.query == (try parse("rooms where a == 1 limit 5")))
        #expect(try parse("count where n == 1").collectionID == "count", "a collection's name")
        #expect(throws: QueryTextError.self) { try QueryText.parse("count of", in: database) }
        #expect(throws: QueryTextError.self) { try QueryText.parse("sum of n", in: database) }
    }

    @Test func `the code of a query is what its language wants`() throws {
        func code(_ text: String, _ language: QueryCode.Language) throws -> String {
            QueryCode(asked: try QueryText.parse(text, in: database), language: language).text.text
        }
        let text =
            "rooms where (a == 1 or b == \"x\") and t > timestamp \"2026-11-24T10:00:00Z\" "
            + "order by t desc limit 5"
        #expect(
            try code(text, .Swift) == """
                firestore.collection("rooms")
                    .whereFilter(Filter.orFilter([Filter.whereField("a", isEqualTo: 1), \
                Filter.whereField("b", isEqualTo: "x")]))
                    .whereField("t", isGreaterThan: Timestamp(seconds: 1795514400, nanoseconds: 0))
                    .order(by: "t", descending: true)
                    .limit(to: 5)
                """)
        #expect(
            try code(text, .JavaScript) == """
                query(
                    collection(db, "rooms"),
                    or(where("a", "==", 1), where("b", "==", "x")),
                    where("t", ">", new Timestamp(1795514400, 0)),
                    orderBy("t", "desc"),
                    limit(5),
                )
                """)
        #expect(
            try code("count of **/m", .JavaScript) == """
                getAggregateFromServer(query(
                    collectionGroup(db, "m"),
                ), {
                    "count": count(),
                })
                """)
    }
}
