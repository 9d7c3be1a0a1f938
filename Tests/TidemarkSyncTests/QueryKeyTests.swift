import Testing
import TidemarkModel

@testable import TidemarkSync

struct QueryKeyTests {
    /// FirebaseFirestore nests an AND that a query is chained after.
    @Test func `filters have one key, however their ANDs are nested`() throws {
        func filter(_ name: String) throws -> Filter {
            .field(try FieldPath(encoded: name), .equal, .integer(1))
        }
        func key(_ filter: Filter) -> QueryKey {
            var query = Query(collectionID: "rooms")
            query.filter = filter
            return QueryKey(query)
        }
        let (a, b, c) = (try filter("a"), try filter("b"), try filter("c"))
        #expect(key(.and([.and([a, b]), c])) == key(.and([a, b, c])))
        #expect(key(.and([a, .and([b, .and([c])])])) == key(.and([a, b, c])))
        #expect(key(.and([.or([.and([a, b]), c]), a])) != key(.and([.or([a, b, c]), a])))
        #expect(key(.and([.and([a, b]), c])) != key(.and([b, a, c])))
    }
}
