import Testing
import TidemarkModel
import TidemarkStore

struct ListingTests {
    private func store(_ documents: [StoredDocument]) throws -> DocumentStore {
        let store = try DocumentStore(.memory)
        try store.write { transaction throws in
            for document in documents { try transaction.documents(of: testDatabase).put(document) }
        }
        return store
    }

    @Test func `collections are those with documents at any depth`() throws {
        let store = try store([
            found("a/1"), found("a-/1"), found("a/1/x/1/deep/1"), found("a/1/b/1"),
            missing("gone/1"), found("only/below/here/1"), found("a/10/other/1"),
        ])
        try store.read { transaction throws in
            let table = transaction.documents(of: testDatabase)
            #expect(try table.collectionIDs(below: nil) == ["a", "a-", "only"])
            #expect(try table.collectionIDs(below: DocumentPath("a/1")) == ["b", "x"])
            #expect(try table.collectionIDs(below: DocumentPath("a/1/x/1")) == ["deep"])
            #expect(try table.collectionIDs(below: DocumentPath("a/2")) == [])
        }
    }

    @Test func `document ids come in name order, missing parents between them`() throws {
        let store = try store([
            found("r/b"), found("r/__id10__"), found("r/__id9__"), missing("r/c"),
            found("r/a/sub/1"), found("r/b/sub/1"), found("r/d/sub/1/sub/1"), found("r/e"),
            missing("r/f/sub/1"),
        ])
        try store.read { transaction throws in
            let table = transaction.documents(of: testDatabase)
            func ids(_ missing: Bool, after: String? = nil, limit: Int = 100) throws -> [String] {
                try table.documentIDs(
                    in: CollectionPath("r"), includingMissing: missing, after: after, limit: limit)
            }
            #expect(try ids(false) == ["__id9__", "__id10__", "b", "e"])
            #expect(try ids(true) == ["__id9__", "__id10__", "a", "b", "d", "e"])
            #expect(try ids(true, after: "a") == ["b", "d", "e"])
            #expect(try ids(true, after: "__id9__", limit: 2) == ["__id10__", "a"])
            #expect(try ids(false, limit: 1) == ["__id9__"])
            #expect(try ids(true, limit: 0) == [])
        }
    }

    @Test func `removing all leaves nothing and the store goes on`() throws {
        let store = try store([found("a/1"), found("a/2/b/1")])
        try store.write { transaction throws in
            let table = transaction.documents(of: testDatabase)
            try table.removeAll()
            #expect(try table.collectionIDs(below: nil) == [])
            try table.put(found("b/1"))
            #expect(try table.collectionIDs(below: nil) == ["b"])
            #expect(try table.document(at: DocumentPath("a/1")) == nil)
        }
    }
}
