import Foundation
import Testing

@testable import TidemarkModel

struct `Index advice` {
    private func path(_ name: String) -> FieldPath { try! FieldPath(encoded: name) }

    private func query(
        _ equal: [String] = [], contains: [String] = [], orders: [String] = [],
        in collection: String = "c", isGroup: Bool = false, value: Int64 = 1
    ) -> Query {
        let filters =
            equal.map { Filter.field(path($0), .equal, .integer(value)) }
            + contains.map { Filter.field(path($0), .arrayContains, .integer(value)) }
        return Query(
            collectionID: collection, allDescendants: isGroup,
            filter: filters.isEmpty ? nil : .and(filters),
            orders: orders.map { name in
                let isDown = name.hasPrefix("-")
                return Order(
                    path(isDown ? String(name.dropFirst()) : name),
                    isDown ? .descending : .ascending)
            })
    }

    private func needs(_ queries: [Query]) -> IndexNeeds {
        var needs = IndexNeeds()
        for query in queries { needs.note(query) }
        return needs
    }

    private func advice(_ queries: [Query], _ catalog: IndexCatalog = IndexCatalog()) -> [String] {
        IndexAdvice(needs(queries), in: catalog).missing.map(\.sentence)
    }

    @Test func `asks for nothing that is automatic`() {
        #expect(
            advice([
                query(), query(["a"]), query(["a", "b"]), query(orders: ["-t"]),
                query(contains: ["tags"]),
            ]).isEmpty)
    }

    @Test func `asks for each index once, whatever the values and the order of the filters`() {
        #expect(
            advice([
                query(["room"], orders: ["-sentAt"], value: 1),
                query(["room"], orders: ["-sentAt"], value: 2),
                query(["b", "a"], orders: ["t"]), query(["a", "b"], orders: ["t"]),
            ]) == [
                "Collection c (room ASC, sentAt DESC, __name__ DESC)",
                "Collection c (a ASC, b ASC, t ASC, __name__ ASC)",
            ])
    }

    @Test func `needs no index for what two that are there serve together`() {
        #expect(
            advice([
                query(["a", "b"], orders: ["t"]), query(["a"], orders: ["t"]),
                query(["b"], orders: ["t"]),
            ]) == [
                "Collection c (a ASC, t ASC, __name__ ASC)",
                "Collection c (b ASC, t ASC, __name__ ASC)",
            ])
    }

    @Test func `tells collections, groups and settings of single fields apart`() {
        #expect(
            advice([
                query(["a"], orders: ["t"], in: "d"), query(["a"], orders: ["t"], isGroup: true),
                query(orders: ["t"], isGroup: true),
            ]) == [
                "Collection group c (t ASC, __name__ ASC)",
                "Collection group c (a ASC, t ASC, __name__ ASC)",
                "Collection d (a ASC, t ASC, __name__ ASC)",
            ])
    }

    @Test func `names what nothing uses`() throws {
        var catalog = IndexCatalog()
        let used = CompositeIndex(
            group: "c", scope: .collection,
            fields: [
                IndexedField(path("a"), .ordered(.descending)),
                IndexedField(path("t"), .ordered(.ascending)),
            ])
        let unused = CompositeIndex(
            group: "c", scope: .collection,
            fields: [
                IndexedField(path("z"), .ordered(.ascending)),
                IndexedField(path("t"), .ordered(.ascending)),
            ])
        catalog.append(used)
        catalog.append(unused)
        let advice = IndexAdvice(needs([query(["a"], orders: ["t"])]), in: catalog)
        #expect(advice.missing.isEmpty, "the direction of what is fixed makes no difference")
        #expect(advice.superfluous == [unused])
    }

    @Test func `is the same after the needs were written and read, and put together`() throws {
        var all = needs([
            query(["room"], orders: ["-sentAt"]), query(["a"], contains: ["tags"], orders: ["t"]),
            query(["`a.b`"], orders: ["x"]),
            query(["`e\u{301}`"], orders: ["x"]), query(["`\u{e9}`"], orders: ["x"]),
        ])
        var nearest = query(["a"])
        nearest.findNearest = FindNearest(
            field: path("v"), vector: [1, 2, 3], measure: .euclidean, limit: 3)
        all.note(nearest)
        all.note(
            query(["a"]), [Aggregation(alias: "s", .sum(path("n")))])
        let data = try JSONEncoder().encode(all)
        let read = try JSONDecoder().decode(IndexNeeds.self, from: data)
        #expect(read == all)
        #expect(all.counts.count == 7, "equal to the eye is not equal to Firestore")
        var twice = read
        twice.merge(all)
        #expect(twice.counts.values.allSatisfy { $0 == 2 })
        #expect(
            IndexAdvice(twice, in: IndexCatalog()) == IndexAdvice(all, in: IndexCatalog()))
    }

    @Test func `is bounded`() {
        var needs = IndexNeeds()
        for number in 0..<IndexNeeds.capacity + 5 {
            needs.note(query(["a"], orders: ["t\(number)"]))
        }
        #expect(needs.counts.count == IndexNeeds.capacity && needs.dropped == 5)
        let isNew = needs.note(query(["a"], orders: ["t0"]))
        #expect(!isNew, "what is known still counts")
        #expect(needs.dropped == 5)
    }

    @Test func `takes no note of what will be refused`() {
        var needs = IndexNeeds()
        needs.note(query(orders: ["a", "a"]))
        #expect(needs.isEmpty)
    }

    @Test func `serves every query it was asked for`() {
        var random = SeededRandom(seed: 7)
        let names = ["a", "b", "c", "t", "-t", "u"]
        for seed in 0..<200 {
            let queries = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                let equal = names.prefix(3).filter { _ in Bool.random(using: &random) }
                let orders = names.dropFirst(3).shuffled(using: &random).prefix(
                    Int.random(in: 0...2, using: &random))
                let isClash = Set(orders.map { $0.last! }).count < orders.count
                return query(Array(equal), orders: isClash ? [] : Array(orders))
            }
            let needs = needs(queries)
            var catalog = IndexCatalog()
            for index in IndexAdvice(needs, in: catalog).missing { catalog.add(index) }
            #expect(
                queries.allSatisfy { IndexRequirement($0, in: catalog).missing.isEmpty },
                "seed \(seed)")
            let again = IndexAdvice(needs, in: catalog)
            #expect(again.missing.isEmpty, "seed \(seed)")
        }
    }
}
