import Testing
import TidemarkModel
import TidemarkStore

@Suite struct NewDocumentTests {
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
}
