import Testing
import TidemarkModel

@testable import TidemarkRules

struct `A query` {
    private func decide(
        _ condition: String, _ query: Query, path: String = "/notes/{id}", as uid: String? = "ann"
    ) throws -> (isAllowed: Bool, reason: String) {
        let rules = try Ruleset(
            """
            rules_version = '2';
            service cloud.firestore {
              match /databases/{database}/documents {
                match \(path) { allow list: if \(condition); }
              }
            }
            """)
        let decision = rules.decide(
            query, as: uid.map { RulesCaller(uid: $0) }, at: .epoch, reading: OracleRooms())
        return (decision.isAllowed, decision.reason(in: rules.source))
    }

    private func notes(_ filter: Filter? = nil, group: Bool = false) -> Query {
        Query(collectionID: "notes", allDescendants: group, filter: filter)
    }

    private func field(_ name: String, _ test: Filter.Operator, _ value: Value) -> Filter {
        .field(FieldPath(name: name), test, value)
    }

    @Test(arguments: [
        (
            "resource.data.owner == request.auth.uid",
            ".whereField(\"owner\", isEqualTo: \"ann\")"
        ),
        (
            "request.auth.uid in resource.data.members",
            ".whereField(\"members\", arrayContains: \"ann\")"
        ),
        ("resource.data.public", ".whereField(\"public\", isEqualTo: true)"),
        ("resource.data.n >= 3", ".whereField(\"n\", isGreaterThanOrEqualTo: 3)"),
        ("3 > resource.data.n", ".whereField(\"n\", isLessThan: 3)"),
        ("resource.data.a.b == 1", ".whereField(\"a.b\", isEqualTo: 1)"),
        (
            "resource.data.room in get(/databases/$(database)/documents/users/ann).data.rooms",
            ".whereField(\"room\", in: [\"blue\", \"red\"])"
        ),
        ("request.query.limit <= 10", ".limit(to: 10)"),
    ])
    func `that is refused is told what it lacks`(condition: String, wanted: String) throws {
        let answer = try decide(condition, notes())
        #expect(!answer.isAllowed)
        #expect(answer.reason.contains("Add " + wanted + "."), "\(answer.reason)")
    }

    @Test func `of a collection group needs a wildcard for what is before`() throws {
        let group = notes(group: true)
        #expect(try !decide("true", group).isAllowed)
        #expect(try decide("true", group, path: "/{path=**}/notes/{id}").isAllowed)
        #expect(try decide("true", group, path: "/{path=**}").isAllowed)
        #expect(try !decide("path[0] == 'a'", group, path: "/{path=**}/notes/{id}").isAllowed)
        let below = Query(
            parent: try DocumentPath("rooms/blue"), collectionID: "notes", allDescendants: true)
        #expect(try !decide("true", below, path: "/rooms/{room}/notes/{id}").isAllowed)
        #expect(try decide("true", below, path: "/rooms/{room}/{path=**}").isAllowed)
        let inside = Query(parent: try DocumentPath("rooms/blue"), collectionID: "notes")
        #expect(try decide("room == 'blue'", inside, path: "/rooms/{room}/notes/{id}").isAllowed)
    }

    @Test func `knows nothing of ids, but those that it names`() throws {
        #expect(try !decide("id == 'a'", notes()).isAllowed)
        #expect(try !decide("resource.id == 'a'", notes()).isAllowed)
        #expect(try !decide("true", notes(), path: "/notes/a").isAllowed)
        let database = try DatabaseID(project: "demo")
        let named = notes(
            field(
                "__name__", .equal,
                .reference(ReferenceValue(database: database, path: try DocumentPath("notes/a")))))
        #expect(try decide("id == 'a' && resource.id == 'a'", named).isAllowed)
        #expect(try decide("true", named, path: "/notes/a").isAllowed)
    }

    @Test func `takes 3 and 3.0 for the same, and a rule does not everywhere`() throws {
        let three = notes(field("n", .equal, .integer(3)))
        #expect(try decide("resource.data.n == 3.0", three).isAllowed)
        #expect(try decide("resource.data.n is number", three).isAllowed)
        #expect(try !decide("resource.data.n is int", three).isAllowed)
        #expect(try !decide("[resource.data.n] == [3]", three).isAllowed)
        #expect(try !decide("[resource.data.n] != [4]", notes()).isAllowed)
        #expect(try !decide("!(resource.data.n in [[4]][0])", notes()).isAllowed)
        #expect(try !decide("!({'n': resource.data.n} == {'n': 4})", notes()).isAllowed)
        #expect(try !decide("![resource.data.n].hasAny([4])", notes()).isAllowed)
        #expect(try !decide("resource != {'data': {}}", notes()).isAllowed)
        let list = notes(field("n", .equal, .array([.integer(3)])))
        #expect(try !decide("resource.data.n == [3]", list).isAllowed)
        #expect(try decide("3 in resource.data.n", list).isAllowed)
        #expect(try decide("resource.data.n is list", list).isAllowed)
    }

    @Test func `with a cursor alone says nothing of other types`() throws {
        var query = notes()
        query.orders = [Order(FieldPath(name: "n"))]
        query.start = Cursor(values: [.integer(3)], before: true)
        #expect(try !decide("resource.data.n >= 3", query).isAllowed, "texts come behind numbers")
        query.end = Cursor(values: [.integer(9)], before: false)
        #expect(try decide("resource.data.n >= 3 && resource.data.n <= 9", query).isAllowed)
        #expect(try !decide("resource.data.n < 9", query).isAllowed)
        query.start = Cursor(values: [.integer(3), .string("x")], before: false)
        query.orders.append(Order(FieldPath(name: "m")))
        #expect(try !decide("resource.data.n > 3", query).isAllowed, "3 with a later m remains")
    }

    @Test func `says its limit, offset and order`() throws {
        var query = notes()
        query.limit = .first(5)
        query.offset = 2
        query.orders = [Order(FieldPath(name: "n"), .descending)]
        #expect(
            try decide(
                "request.query.limit == 5 && request.query.offset == 2 && request.query.orderBy.n == 'DESC'",
                query
            ).isAllowed)
        #expect(try decide("'n' in resource.data", query).isAllowed, "what it orders by is there")
        #expect(try !decide("resource.data.n != null", query).isAllowed)
    }

    @Test func `is judged for each alternative by itself`() throws {
        let either = notes(
            .or([
                field("public", .equal, .boolean(true)), field("owner", .equal, .string("ann")),
            ]))
        let condition = "resource.data.public == true || resource.data.owner == request.auth.uid"
        #expect(try decide(condition, either).isAllowed)
        #expect(try !decide("resource.data.public == true", either).isAllowed)
        #expect(try !decide(condition, either, as: nil).isAllowed)
    }

    @Test func `of many alternatives is judged by what all have in common`() throws {
        let values = Value.array((0..<30).map { .integer($0) })
        let wide = Filter.and([
            field("a", .isIn, values), field("b", .isIn, values), field("c", .isIn, values),
            field("owner", .equal, .string("ann")),
        ])
        #expect(try decide("resource.data.owner == request.auth.uid", notes(wide)).isAllowed)
        #expect(try !decide("resource.data.a < 30", notes(wide)).isAllowed)
    }
}
