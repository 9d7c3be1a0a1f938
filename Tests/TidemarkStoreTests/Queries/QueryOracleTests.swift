import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkStore

/// Compares the store with filtering and sorting, for random documents, queries and changes.
@Suite(.ownThread) struct QueryOracleTests {
    enum Indexes: CaseIterable { case none, declared, onDemand }

    @Test(arguments: Indexes.allCases, UInt64(0)..<5)
    func `a query gives what filtering and sorting gives`(
        indexes: Indexes, seed: UInt64
    ) async throws {
        var dice = Dice(seed: seed)
        let store = try DocumentStore(.memory, indexBuilding: .onRequest)
        var oracle = Oracle()
        var queries: [Query] = []
        for round in 0..<12 {
            try change(&dice, store, &oracle, count: round == 0 ? 150 : 25)
            if indexes == .declared { try declare(&dice, store) }
            queries = queries.suffix(40) + (0..<40).map { _ in dice.query() }
            for query in queries {
                try check(query, store, oracle)
                // The test takes minutes, and other tests share its threads.
                await Task.yield()
            }
            if indexes == .onDemand {
                // A small slice leaves some indexes incomplete, and the next queries and changes
                // find them so.
                _ = try store.buildWantedIndexes(slice: 1 + dice.roll(200))
                // A failing transaction loses the entries that were gathered and not yet written.
                if dice.chance(30) { try loseTransaction(&dice, store) }
            }
            try checkEntries(store)
        }
    }

    private func change(
        _ dice: inout Dice, _ store: DocumentStore, _ oracle: inout Oracle, count: Int
    ) throws {
        for _ in 0..<count {
            let document = dice.document()
            let isRemoved = dice.chance(20)
            try store.write { transaction in
                let table = transaction.documents(of: testDatabase)
                if isRemoved { try table.remove(document.path) } else { try table.put(document) }
            }
            if isRemoved { oracle.remove(document.path) } else { oracle.put(document) }
        }
    }

    private func loseTransaction(_ dice: inout Dice, _ store: DocumentStore) throws {
        struct Lost: Error {}
        let document = dice.document()
        #expect(throws: Lost.self) {
            try store.write { transaction in
                try transaction.documents(of: testDatabase).put(document)
                throw Lost()
            }
        }
    }

    private func declare(_ dice: inout Dice, _ store: DocumentStore) throws {
        var fields = Dice.fields
        var chosen: [IndexDefinition.Field] = []
        for _ in 0..<(1 + dice.roll(3)) {
            let field = fields.remove(at: dice.roll(fields.count))
            let contains = chosen.contains { $0.kind == .contains }
            let kinds: [IndexDefinition.Field.Kind] =
                contains ? [.ascending, .descending] : [.ascending, .descending, .contains]
            chosen.append(IndexDefinition.Field(field, dice.pick(kinds)))
        }
        let definition = IndexDefinition(
            collectionID: "rooms", scope: dice.chance(60) ? .collection : .group,
            fields: dice.chance(5) ? [] : chosen, name: dice.chance(70) ? .ascending : .descending)
        try store.write { try $0.documents(of: testDatabase).declareIndex(definition) }
    }

    private func check(_ query: Query, _ store: DocumentStore, _ oracle: Oracle) throws {
        let expected = oracle.run(query)
        try store.read { transaction in
            let table = transaction.documents(of: testDatabase)
            let run = try table.run(query)
            let paths = run.documents.map(\.path)
            if paths != expected {
                Issue.record("\(run.stats.plan)\n\(query)\ngave \(paths)\nnot \(expected)")
            }
            let count = try table.count(query)
            #expect(count.count == Int64(expected.count), "\(run.stats.plan)\n\(query)")
            let few = try table.count(query, upTo: 3)
            #expect(few.count == Int64(min(3, expected.count)), "\(query)")
            #expect(run.stats.rowsReturned == expected.count)
            try checkRows(query, table, oracle)
            // A query may request its indexes here, even if it read few documents.
            let plans = QueryPlans(table: table)
            plans.wish(try plans.plan(query), scanned: 100, useful: 0)
        }
    }

    /// Checks the rows that are read one at a time. Those that are not in order can lack a field of
    /// the order.
    private func checkRows(_ query: Query, _ table: DocumentTable, _ oracle: Oracle) throws {
        var whole = query
        (whole.limit, whole.offset) = (nil, 0)
        guard let rows = try table.rows(whole) else { return }
        var paths: [DocumentPath] = []
        while let row = try rows.next() { paths.append(row.path) }
        let expected = oracle.run(whole)
        if rows.isInOrder {
            #expect(paths == expected, "\(rows.plan)\n\(query)")
            return
        }
        let found = Set(paths)
        #expect(found.count == paths.count, "\(rows.plan)\n\(query)")
        #expect(found.isSuperset(of: expected), "\(rows.plan)\n\(query)")
        var unordered = whole
        (unordered.orders, unordered.start, unordered.end) = ([], nil, nil)
        #expect(found.isSubset(of: oracle.run(unordered)), "\(rows.plan)\n\(query)")
    }

    /// Checks that the entries are exactly those of the documents. An index that is not yet
    /// complete may lack some of its entries.
    private func checkEntries(_ store: DocumentStore) throws {
        try store.read { transaction in
            let connection = transaction.connection
            let stored = try transaction.rows("SELECT fieldIndex, scope, key, document FROM entry")
            var expected: Set<[SQLValue]> = []
            var possible: Set<[SQLValue]> = []
            let all = try transaction.rows(
                "SELECT id, collection, name, fields, kind FROM document")
            for row in all where try row.integer(4) == 0 {
                let collection = try connection.catalog.collection(
                    id: row.integer(1), connection)
                let id = try row.blob(2).withUnsafeBytes { KeyWriter.segment(in: $0)!.id }
                let indexed = try IndexedRow(
                    id: row.integer(0), collection: collection, name: row.blob(2),
                    path: DocumentPath(unchecked: "\(collection.path.text)/\(id)"))
                let fields = try EncodedFields(trusted: row.blob(3)).decoded
                for index in collection.group.indexes {
                    let entries: [[SQLValue]] = index.definition.keys(of: fields, indexed).map {
                        [
                            .integer(index.id), .integer(index.scope(collection)), .blob($0),
                            .integer(indexed.id),
                        ]
                    }
                    possible.formUnion(entries)
                    if index.covers(collection.id, indexed.name) { expected.formUnion(entries) }
                }
            }
            let found = Set(stored.map(\.values))
            #expect(expected.subtracting(found).count == 0)
            #expect(found.subtracting(possible).count == 0)
        }
    }
}
