import TidemarkModel
import TidemarkStore
import TidemarkTestKit

/// The queries of a world's apps. There are few rooms, so most operations meet others.
enum WorldQueries {
    static let rooms = ["r0", "r1", "r2", "r3", "r4", "r5"].map {
        DocumentPath(unchecked: "rooms/\($0)")
    }

    static let allRooms = Query(collectionID: "rooms")

    static let all: [Query] = {
        let n = FieldPath(name: "n")
        let g = FieldPath(name: "g")
        let marks = FieldPath(name: "marks")
        return [
            allRooms,
            Query(collectionID: "rooms", filter: .field(g, .equal, .integer(1))),
            Query(collectionID: "rooms", orders: [Order(n)], limit: .first(2)),
            Query(collectionID: "rooms", orders: [Order(n, .descending)], limit: .first(3)),
            Query(collectionID: "rooms", orders: [Order(n)], limit: .last(2)),
            Query(
                collectionID: "rooms",
                filter: .field(marks, .arrayContainsAny, .array([.integer(1), .integer(2)]))),
            Query(
                collectionID: "rooms",
                filter: .or([
                    .field(g, .equal, .integer(0)), .field(marks, .arrayContains, .integer(3)),
                ])
            ),
            Query(
                collectionID: "rooms",
                filter: .field(g, .isIn, .array([.integer(0), .integer(2)])),
                orders: [Order(n, .descending)], limit: .first(2)),
            document(rooms[1]),
            Query(collectionID: "counters"),
            allAccounts,
        ]
    }()

    // MARK: Queries of all shapes

    static let random = RandomRows(
        database: World.database, collectionID: "rooms",
        fields: ["n", "g", "marks", "x", "m.x"].map { try! FieldPath(encoded: $0) },
        hasGroups: false
    ) { dice in dice.pick(rooms) }

    /// Returns a query that the cache can answer.
    static func random(_ dice: inout SeededRandom) -> Query { random.query(&dice) }

    /// Returns a query that the server can answer too, and to which apps may listen.
    static func served(_ dice: inout SeededRandom) -> Query {
        for _ in 0..<20 {
            var query = random(&dice)
            query.offset = 0
            if query.limit?.count == 0 { query.limit = nil }
            if (try? query.validate()) != nil, (try? query.wireForm.validate()) != nil {
                return query
            }
        }
        return allRooms
    }

    static func randomIndex(_ dice: inout SeededRandom) -> IndexDefinition {
        var fields = random.fields
        var chosen: [IndexDefinition.Field] = []
        for _ in 0..<(1 + dice.roll(2)) {
            let field = fields.remove(at: dice.roll(fields.count))
            let hasElements = chosen.contains { $0.kind == .contains }
            chosen.append(
                IndexDefinition.Field(
                    field,
                    dice.pick(
                        hasElements
                            ? [.ascending, .descending] : [.ascending, .descending, .contains])))
        }
        return IndexDefinition(
            collectionID: "rooms", fields: chosen,
            name: dice.chance(70) ? .ascending : .descending)
    }

    static let allAccounts = Query(collectionID: "accounts")

    /// The collection with a document for each writer, which no other client requests from the
    /// server.
    static let ownCollection = "own"
    static let allOwn = Query(collectionID: ownCollection)

    static func own(_ writer: WorldWriter) -> Query {
        Query(
            collectionID: ownCollection,
            filter: .field(FieldPath(name: "owner"), .equal, .string(writer.name)))
    }

    private static func document(_ path: DocumentPath) -> Query {
        Query(
            collectionID: "rooms",
            filter: .field(
                .documentID, .equal,
                .reference(ReferenceValue(database: World.database, path: path))))
    }
}

extension Query {
    /// Returns the query's rows, by the tests' own filter and order.
    func rows(of documents: [Document]) -> [Document] {
        QueryOracle(self, in: World.database).rows(of: documents)
    }
}
