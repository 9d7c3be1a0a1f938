import Testing
import TidemarkModel
import TidemarkStore

struct NewDocumentTests {
    @Test func `a new document gets a row, and a stored one is left as it is`() throws {
        let store = try DocumentStore(.memory)
        try store.write { transaction throws in
            let table = transaction.documents(of: testDatabase)
            let first = try table.insert(ifNew: found("a/1", ["n": .integer(1)]))
            #expect(try first == table.version(at: DocumentPath("a/1"))?.row)
            #expect(try table.insert(ifNew: found("a/1", ["n": .integer(2)])) == nil)
            #expect(try table.insert(ifNew: missing("a/1")) == nil)
            let second = try table.insert(ifNew: found("a/2"))
            #expect(second != nil && second != first)
            let stored = try table.document(at: DocumentPath("a/1"))
            #expect(stored == found("a/1", ["n": .integer(1)]))
        }
    }

    @Test func `a new document is found by an index`() throws {
        let store = try DocumentStore(.memory, indexBuilding: .onRequest)
        let field = FieldPath(name: "n")
        let index = IndexDefinition(
            collectionID: "a", fields: [IndexDefinition.Field(field)])
        try store.write { try $0.documents(of: testDatabase).declareIndex(index) }
        while try store.buildWantedIndexes() {}
        try store.write { transaction throws in
            let table = transaction.documents(of: testDatabase)
            for number in 0..<40 {
                let path = "a/\(number)"
                _ = try table.insert(ifNew: found(path, ["n": .integer(Int64(number))]))
                _ = try table.insert(ifNew: found(path, ["n": .integer(7)]))
            }
            let results = try table.run(
                Query(collectionID: "a", filter: .field(field, .equal, .integer(7))))
            #expect(results.documents.map(\.path.text) == ["a/7"])
            #expect(results.stats.plan.contains("index"))
            #expect(results.stats.rowsScanned == 1)
        }
    }

    private static let field = FieldPath(name: "n")
    private static let tags = FieldPath(name: "tags")

    private static func indexed(_ definitions: IndexDefinition...) throws -> DocumentStore {
        let store = try DocumentStore(.memory, indexBuilding: .onRequest)
        try store.write { transaction throws in
            for definition in definitions {
                try transaction.documents(of: testDatabase).declareIndex(definition)
            }
        }
        while try store.buildWantedIndexes() {}
        return store
    }

    private static func rows(
        of parent: DocumentPath? = nil, _ filter: Filter, _ store: DocumentStore
    ) throws -> [String] {
        try store.read { transaction in
            let results = try transaction.documents(of: testDatabase).run(
                Query(parent: parent, collectionID: "a", filter: filter))
            #expect(results.stats.plan.contains("index"))
            #expect(results.stats.rowsScanned == results.documents.count)
            return results.documents.map(\.path.text)
        }
    }

    /// The documents exceed the capacity of one statement and that of the gathered entries. They
    /// are in two collections, and an index has several entries for each document.
    @Test func `many new documents are found by their indexes`() throws {
        let store = try Self.indexed(
            IndexDefinition(collectionID: "a", fields: [.init(Self.field)]),
            IndexDefinition(collectionID: "a", fields: [.init(Self.tags, .contains)]))
        let count = 4_321
        try store.write { transaction throws in
            let table = transaction.documents(of: testDatabase)
            var entries = NewEntries()
            for number in 0..<count {
                let collection = number.isMultiple(of: 3) ? "x/1/a" : "a"
                let document = found(
                    "\(collection)/\(number)",
                    [
                        "n": .integer(Int64(number * 7919 % count)),
                        "tags": .array([.integer(Int64(number % 2)), .integer(9)]),
                    ])
                #expect(try table.insert(ifNew: document, &entries) != nil)
                #expect(try table.insert(ifNew: document, &entries) == nil)
            }
            try table.write(&entries)
        }
        for number in [0, 1, 24, 25, 3_999, 4_000, 4_001, count - 1] {
            let isBelow = number.isMultiple(of: 3)
            let value = Value.integer(Int64(number * 7919 % count))
            let parent = isBelow ? DocumentPath(unchecked: "x/1") : nil
            let rows = try Self.rows(of: parent, .field(Self.field, .equal, value), store)
            #expect(rows == ["\(isBelow ? "x/1/a" : "a")/\(number)"])
        }
        let even = try Self.rows(.field(Self.tags, .arrayContains, .integer(0)), store)
        #expect(even.count == (0..<count).count { !$0.isMultiple(of: 3) && $0.isMultiple(of: 2) })
        let all = try Self.rows(.field(Self.field, .greaterThanOrEqual, .integer(0)), store)
        #expect(all.count == (0..<count).count { !$0.isMultiple(of: 3) })
    }

    @Test func `new documents of many collections are found by their indexes`() throws {
        let store = try Self.indexed(
            IndexDefinition(collectionID: "a", fields: [.init(Self.field)]))
        try store.write { transaction throws in
            let table = transaction.documents(of: testDatabase)
            var entries = NewEntries()
            for number in 0..<120 {
                let document = found("x/\(number % 40)/a/\(number)", ["n": .integer(7)])
                _ = try table.insert(ifNew: document, &entries)
            }
            try table.write(&entries)
        }
        for parent in 0..<40 {
            let rows = try Self.rows(
                of: DocumentPath(unchecked: "x/\(parent)"),
                .field(Self.field, .equal, .integer(7)), store)
            #expect(rows.count == 3)
        }
    }

    /// A file may contain such entries if the build of its index was interrupted.
    @Test func `entries that are there already give way`() throws {
        let store = try Self.indexed(
            IndexDefinition(collectionID: "a", fields: [.init(Self.field)]))
        func insert(_ numbers: Range<Int>) throws {
            try store.write { transaction throws in
                let table = transaction.documents(of: testDatabase)
                var entries = NewEntries()
                for number in numbers {
                    let document = found("a/\(number)", ["n": .integer(Int64(number))])
                    _ = try table.insert(ifNew: document, &entries)
                }
                try table.write(&entries)
            }
        }
        try insert(0..<60)
        try store.write { transaction throws in
            // Deletes documents, and assigns their entries to another document.
            try transaction.execute("DELETE FROM document WHERE id BETWEEN 11 AND 50")
            try transaction.execute(
                "UPDATE entry SET document = 3 WHERE document BETWEEN 11 AND 50")
        }
        try insert(0..<60)
        for number in 0..<60 {
            let rows = try Self.rows(
                .field(Self.field, .equal, .integer(Int64(number))), store)
            #expect(rows == ["a/\(number)"])
        }
    }
}
