import Testing
import TidemarkModel

@testable import TidemarkStore

/// Scans in slices, with changes between the slices. The result of a scan must equal the contents
/// of the store at the end of the scan.
struct ScanTests {
    private func change(_ dice: inout Dice, _ store: DocumentStore, _ oracle: inout Oracle) throws {
        let document = dice.document()
        let isRemoved = dice.chance(30)
        try store.write { transaction in
            let table = transaction.documents(of: testDatabase)
            if isRemoved { try table.remove(document.path) } else { try table.put(document) }
        }
        if isRemoved { oracle.remove(document.path) } else { oracle.put(document) }
    }

    private func filled(_ dice: inout Dice) throws -> (DocumentStore, Oracle) {
        let store = try DocumentStore(.memory, indexBuilding: .onRequest)
        var oracle = Oracle()
        for _ in 0..<150 { try change(&dice, store, &oracle) }
        return (store, oracle)
    }

    /// Creates the indexes of the query, in half of the cases.
    private func index(_ query: Query, _ dice: inout Dice, _ store: DocumentStore) throws {
        guard dice.chance(50) else { return }
        try store.write { try $0.documents(of: testDatabase).declareIndexes(for: query) }
    }

    @Test(arguments: UInt64(0)..<60)
    func `the rows of a scan are those of a query at its end`(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        var (store, oracle) = try filled(&dice)
        for _ in 0..<20 {
            var query = dice.query()
            query.offset = 0
            if query.limit != nil { query.limit = dice.chance(50) ? .first(5) : .last(5) }
            try index(query, &dice, store)
            let capacity = query.limit == nil ? Int.max : 5 + dice.roll(3)
            let scan = try store.read {
                try $0.documents(of: testDatabase).scan(query, capacity: capacity)
            }
            var found: [StoredDocument] = []
            var isAtEnd = false
            while !isAtEnd {
                let budget = ScanBudget(rows: 1 + dice.roll(40))
                isAtEnd = try store.read {
                    try $0.documents(of: testDatabase).step(scan, budget: budget) {
                        found.append($0)
                    }
                }
                if !isAtEnd, dice.chance(60) { try change(&dice, store, &oracle) }
            }
            if case .last? = query.limit { found.reverse() }
            check(query, found, scan, oracle)
        }
    }

    private func check(
        _ query: Query, _ found: [StoredDocument], _ scan: RowScan, _ oracle: Oracle
    ) {
        var all = query
        all.limit = nil
        let expected = oracle.run(all).filter { !scan.touched.contains($0) }
        let rows = found.filter { !scan.touched.contains($0.path) }
        for row in rows { #expect(row == oracle.documents[row.path]) }
        let paths = rows.map(\.path)
        if !scan.isCut {
            #expect(paths == expected, "\(query)")
        } else if case .last? = query.limit {
            #expect(paths == expected.suffix(paths.count), "\(query)")
        } else {
            #expect(paths == Array(expected.prefix(paths.count)), "\(query)")
        }
        if scan.isCut { #expect(found.count >= 5) }
    }

    @Test func `a scan whose index goes away is lost, and so is one whose database is cleared`()
        throws
    {
        let store = try DocumentStore(.memory, indexBuilding: .onRequest)
        var query = Query(collectionID: "rooms")
        query.filter = .field(FieldPath(name: "n"), .greaterThan, .integer(-1))
        try store.write { transaction in
            let table = transaction.documents(of: testDatabase)
            for number in 0..<10 {
                try table.put(found("rooms/\(number)", ["n": .integer(Int64(number))]))
            }
            try table.declareIndexes(for: query)
        }
        for isCleared in [false, true] {
            let scan = try store.read {
                try $0.documents(of: testDatabase).scan(query, capacity: .max)
            }
            #expect(try !step(scan, store))
            try store.write { transaction in
                let table = transaction.documents(of: testDatabase)
                if isCleared { return try table.removeAll() }
                for index in try table.indexes() { try table.dropIndex(index.definition) }
            }
            #expect(try !step(scan, store))
            #expect(scan.isLost)
        }
    }

    private func step(_ scan: RowScan, _ store: DocumentStore) throws -> Bool {
        try store.read {
            try $0.documents(of: testDatabase).step(scan, budget: ScanBudget(rows: 3)) { _ in }
        }
    }

    @Test func `the first of many rows are those of a sort, and what is left out is known`() throws
    {
        var dice = Dice(seed: 1)
        let keys = (0..<8_500).map { _ in (0..<4).map { _ in UInt8(dice.roll(256)) } }
        for capacity in [1, 2_000, 3_000, 9_000] {
            var rows = RowsInOrder(capacity: capacity)
            for (row, key) in keys.enumerated() {
                try rows.add(Int64(row)) { writer throws(StoreError) in
                    writer.bytes += key
                    return true
                }
            }
            rows.endGathering()
            var found: [[UInt8]] = []
            while found.count < capacity, let row = rows.next() { found.append(keys[Int(row)]) }
            let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
            #expect(found == Array(sorted.prefix(capacity)))
            #expect((rows.isCut || rows.next() != nil) == (capacity < keys.count))
        }
    }

    @Test func `a pass over the table is made where most of it is the collection's`() throws {
        let store = try DocumentStore(.memory, indexBuilding: .onRequest)
        try store.write { transaction in
            let table = transaction.documents(of: testDatabase)
            for number in 0..<600 { try table.put(found("rooms/\(number)", ["n": .integer(1)])) }
            for number in 0..<300 { try table.put(found("halls/\(number)", ["n": .integer(1)])) }
            for (name, fills) in [("rooms", true), ("halls", false)] {
                let collection = try table.collection(CollectionPath(unchecked: name))!
                #expect(try PlannedRows(table: table).fillsTable(collection.id) == fills)
                var query = Query(collectionID: name)
                query.orders = [Order(FieldPath(name: "n"), .descending)]
                #expect(try table.run(query).documents.count == (fills ? 600 : 300))
            }
        }
    }
}
