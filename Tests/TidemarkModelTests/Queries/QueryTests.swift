import Testing

@testable import TidemarkModel

struct `Queries` {
    @Test func `order by what they filter, then by name`() {
        func orders(_ filter: Filter?, _ explicit: [Order] = []) -> [Order] {
            Query(collectionID: "c", filter: filter, orders: explicit).normalizedOrders
        }
        let (a, b, name) = (field("a"), field("b"), FieldPath.documentID)
        let range = Filter.and([
            .field(b, .greaterThan, .integer(1)), .field(a, .notEqual, .integer(1)),
            .field(field("z"), .equal, .integer(1)), .unary(a, .isNotNull),
        ])
        #expect(orders(nil) == [Order(name)])
        #expect(orders(range) == [Order(a), Order(b), Order(name)])
        #expect(
            orders(range, [Order(b, .descending)])
                == [Order(b, .descending), Order(a, .descending), Order(name, .descending)])
        #expect(
            orders(nil, [Order(a), Order(name, .descending)]) == [
                Order(a), Order(name, .descending),
            ])
        #expect(
            orders(.field(name, .greaterThan, reference("c/a")), [Order(a, .descending)])
                == [Order(a, .descending), Order(name, .descending)])
    }

    @Test func `leave out documents that lack a field they order by`() {
        let ordered = Query(collectionID: "c", orders: [Order(field("a"))])
        #expect(!ordered.matches(["b": .integer(1)]))
        #expect(ordered.matches(["a": .null]))
    }

    @Test func `read the collections they name`() {
        func matches(_ query: Query, _ text: String) -> Bool {
            query.matches(path(text), [:], in: database)
        }
        let root = Query(collectionID: "c")
        let inner = Query(parent: path("c/x"), collectionID: "d")
        let group = Query(collectionID: "d", allDescendants: true)
        let below = Query(parent: path("c/x"), collectionID: nil, allDescendants: true)
        let children = Query(parent: path("c/x"), collectionID: nil)
        #expect(matches(root, "c/x"))
        #expect(!matches(root, "d/x"))
        #expect(!matches(root, "c/x/c/y"))
        #expect(matches(inner, "c/x/d/y"))
        #expect(!matches(inner, "c/xx/d/y"))
        #expect(matches(group, "d/y") && matches(group, "c/x/d/y"))
        #expect(!matches(group, "d/y/e/z"))
        #expect(matches(below, "c/x/d/y") && matches(below, "c/x/d/y/e/z"))
        #expect(!matches(below, "c/x") && !matches(below, "c/xx/d/y"))
        #expect(matches(children, "c/x/e/z") && !matches(children, "c/x/d/y/e/z"))
    }

    @Test(arguments: [Direction.ascending, .descending])
    func `begin and end at, after and before their cursors`(direction: Direction) {
        let documents = (1...4).flatMap { number -> [(path: DocumentPath, fields: MapValue)] in
            ["x", "y"].map { (path("c/\($0)\(number)"), ["n": .integer(Int64(number))]) }
        }
        func numbers(_ change: (inout Query) -> Void) -> [String] {
            var query = Query(collectionID: "c", orders: [Order(field("n"), direction)])
            change(&query)
            let ids = query.rows(documents).map(\.id)
            return direction == .ascending ? ids : ids.reversed()
        }
        let ascending = direction == .ascending
        let two = [Value.integer(2)]
        let (upToTwo, fromTwo) = (["x1", "y1", "x2", "y2"], ["x2", "y2", "x3", "y3", "x4", "y4"])
        let at = numbers { $0.start = Cursor(values: two, before: true) }
        #expect(at == (ascending ? fromTwo : upToTwo))
        let after = numbers { $0.start = Cursor(values: two, before: false) }
        #expect(after == (ascending ? Array(fromTwo.dropFirst(2)) : Array(upToTwo.dropLast(2))))
        let before = numbers { $0.end = Cursor(values: two, before: true) }
        #expect(before == (ascending ? Array(upToTwo.dropLast(2)) : Array(fromTwo.dropFirst(2))))
        let through = numbers { $0.end = Cursor(values: two, before: false) }
        #expect(through == (ascending ? upToTwo : fromTwo))
        let named = numbers { $0.start = Cursor(values: two + [reference("c/x2")], before: false) }
        #expect(named == (ascending ? Array(fromTwo.dropFirst()) : ["x1", "y1"]))
    }

    @Test func `before and after a cursor are all rows, and none twice`() {
        var generator = Generator(seed: 15)
        for _ in 0..<500 {
            let documents = generator.documents(12)
            let all = Query(collectionID: "c", orders: generator.orders())
            var cursor = generator.cursor()
            cursor.values = Array(cursor.values.prefix(all.orders.count))
            if cursor.values.count == all.orders.count, generator.chance(2) {
                cursor.values.append(reference("c/d\(generator.number(0...12))"))
            }
            var (head, tail) = (all, all)
            head.end = cursor
            tail.start = cursor
            #expect(head.rows(documents) + tail.rows(documents) == all.rows(documents))
        }
    }

    @Test func `sort the same from any beginning`() {
        var generator = Generator(seed: 16)
        for _ in 0..<300 {
            let documents = generator.documents(10)
            let query = Query(
                collectionID: "c", filter: generator.chance(2) ? generator.filter() : nil,
                orders: generator.orders())
            let rows = query.rows(documents)
            #expect(query.rows(documents.shuffled(using: &generator.random)) == rows)
            #expect(Set(rows).count == rows.count)
        }
    }

    @Test func `the wire form of the last rows gives them in reverse`() {
        var generator = Generator(seed: 17)
        for _ in 0..<500 {
            let documents = generator.documents(10)
            let orders = generator.orders()
            func cursor(_ generator: inout Generator) -> Cursor? {
                if generator.chance(2) { return nil }
                var cursor = generator.cursor()
                cursor.values = Array(cursor.values.prefix(orders.count))
                return cursor
            }
            let query = Query(
                collectionID: "c", orders: orders, start: cursor(&generator),
                end: cursor(&generator), limit: .last(generator.number(1...4)))
            #expect(query.wireForm.rows(documents) == query.rows(documents).reversed())
            #expect(query.wireForm.wireForm == query.wireForm)
        }
        let first = Query(collectionID: "c", limit: .first(3))
        #expect(first.wireForm == first)
    }

    /// A server refuses orders after the name, and adds the orders of the filter's fields itself.
    @Test func `the wire form of the last rows is one that a server takes`() throws {
        let (f, g) = (FieldPath(name: "f"), FieldPath(name: "g"))
        var query = Query(
            collectionID: "c", filter: .field(g, .greaterThan, .integer(0)),
            orders: [Order(f), Order(.documentID, .descending)], limit: .last(1))
        try query.validate()
        try query.wireForm.validate()
        #expect(query.wireForm.orders == [Order(f, .descending), Order(.documentID)])
        query.orders = []
        #expect(
            query.wireForm.orders == [Order(g, .descending), Order(.documentID, .descending)])
        let documents = (0..<4).map { number in
            (
                path: path("c/\(number)"),
                fields: ["f": .integer(1), "g": .integer(number)] as MapValue
            )
        }
        query.orders = [Order(f), Order(.documentID, .descending)]
        #expect(query.wireForm.rows(documents) == query.rows(documents).reversed())
    }

    @Test func `have an id that differs when they differ`() {
        var generator = Generator(seed: 18)
        var seen: [String: Query] = [:]
        var equal = 0
        for _ in 0..<20_000 {
            let query = generator.query()
            let id = query.canonicalID
            if let other = seen[id] {
                equal += 1
                #expect(other == query, "\(id)")
                #expect(other.hashValue == query.hashValue)
            }
            seen[id] = query
        }
        #expect(equal > 0, "no query came twice: this shows only half")
        for (a, b) in [
            (Value.integer(1), Value.double(1)), (.string("1"), .integer(1)),
            (.double(0), .double(-0.0)), (.string("\u{E9}"), .string("e\u{301}")),
            (.string("a\",\"b"), .array([.string("a"), .string("b")])),
            (.bytes([1]), .string("01")), (.null, .string("null")),
        ] {
            #expect(Query.equals(a).canonicalID != Query.equals(b).canonicalID)
        }
    }

    @Test func `project to the fields they select`() {
        let fields: MapValue = [
            "a": .map(["x": .integer(1), "y": .integer(2)]), "b": .integer(3), "c": .null,
        ]
        #expect(fields.projected(to: [.documentID]) == [:])
        #expect(fields.projected(to: [field("b"), field("zz")]) == ["b": .integer(3)])
        #expect(fields.projected(to: [field("a.x")]) == ["a": .map(["x": .integer(1)])])
        #expect(fields.projected(to: [field("a.x"), field("a")]) == ["a": fields["a"]!])
        #expect(fields.projected(to: [field("a"), field("a.x")]) == ["a": fields["a"]!])
        #expect(fields.projected(to: [field("a.x.y"), field("b.z")]) == [:])
        #expect(fields.projected(to: []) == [:])
    }
}

extension Query {
    fileprivate static func equals(_ value: Value) -> Query {
        Query(collectionID: "c", filter: .field(field("a"), .equal, value))
    }
}
