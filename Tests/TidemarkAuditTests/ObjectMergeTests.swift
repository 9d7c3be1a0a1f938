import Testing
import TidemarkModel

@testable import TidemarkAudit

struct ObjectMergeTests {
    private func object(_ name: String, size: Int64 = 1) -> AuditedObject {
        AuditedObject(name: name, size: size, createdAt: 0)
    }

    private func naming(
        _ object: String, by document: String = "d", field: Int = 0, size: Int64? = 1
    ) -> ObjectNaming {
        ObjectNaming(
            document: DocumentPath(unchecked: "c/" + document), field: field, object: object,
            size: size)
    }

    /// Sends the lists to the machine in pages, in the order of its requests.
    private func merged(
        _ objects: [AuditedObject], _ documents: [[ObjectNaming]], pageSize: Int
    ) throws -> ObjectMerge {
        var merge = ObjectMerge(fields: documents.count)
        var (objects, documents) = (objects[...], documents.map { $0[...] })
        var pages = 0
        while true {
            pages += 1
            try #require(pages < 10_000, "it ends")
            switch merge.step() {
            case .done: return merge
            case .objects:
                let page = Array(objects.prefix(pageSize))
                objects = objects.dropFirst(pageSize)
                try merge.take(page, isLast: objects.isEmpty)
            case .documents(let field):
                let page = Array(documents[field].prefix(pageSize))
                documents[field] = documents[field].dropFirst(pageSize)
                try merge.take(page, ofField: field, isLast: documents[field].isEmpty)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 1_000])
    func `both directions are found, and other sizes`(pageSize: Int) throws {
        let merge = try merged(
            [object("a"), object("b"), object("c", size: 5), object("z")],
            [
                [naming("b"), naming("b", by: "e"), naming("c"), naming("d")],
                [naming("0", field: 1), naming("c", field: 1, size: nil)],
            ], pageSize: pageSize)
        #expect(merge.withoutDocument.items.map(\.name) == ["a", "z"])
        #expect(merge.withoutObject.items == [naming("0", field: 1), naming("d")])
        #expect(merge.otherSizes.items == [naming("c")])
        #expect(merge.counts == (4, 6))
    }

    @Test func `each list may be empty`() throws {
        #expect(try merged([], [[]], pageSize: 1).counts == (0, 0))
        #expect(try merged([object("a")], [], pageSize: 1).withoutDocument.count == 1)
        #expect(try merged([], [[], [naming("a")]], pageSize: 1).withoutObject.count == 1)
    }

    /// The names have another order as text than as bytes.
    @Test func `names are compared by their bytes`() throws {
        let names = ["a", "e\u{301}", "é", "\u{FFFD}", "\u{1F600}"]
        let merge = try merged(
            names.map { object($0) }, [names.map { naming($0) }], pageSize: 2)
        #expect(merge.withoutDocument.count == 0 && merge.withoutObject.count == 0)
        #expect(throws: AuditError.self) {
            try merged([object("\u{1F600}"), object("\u{FFFD}")], [], pageSize: 9)
        }
        #expect(throws: AuditError.self) {
            try merged([object("a"), object("a")], [], pageSize: 1)
        }
        #expect(throws: AuditError.self) {
            try merged([], [[naming("b"), naming("a")]], pageSize: 1)
        }
    }

    @Test func `what it finds is what sets say, for random lists`() throws {
        var dice = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let all = (0..<30).map { "n\($0 + 10)" }
            let stored = all.filter { _ in Bool.random(using: &dice) }
            let fields = (0..<3).map { field in
                all.flatMap { name in
                    (0..<Int.random(in: 0...2, using: &dice)).map {
                        naming(name, by: "\($0)", field: field)
                    }
                }
            }
            let merge = try merged(
                stored.map { object($0) }, fields, pageSize: .random(in: 1...9, using: &dice))
            let named = Set(fields.joined().map(\.object))
            #expect(
                merge.withoutDocument.items.map(\.name) == stored.filter { !named.contains($0) })
            let missing = fields.joined().filter { !stored.contains($0.object) }
            #expect(Set(merge.withoutObject.items) == Set(missing))
            #expect(merge.withoutObject.count == missing.count)
        }
    }

    @Test func `of many findings the first are kept, and all are counted`() throws {
        let names = (0..<12_000).map { "n\(100_000 + $0)" }
        let merge = try merged(names.map { object($0) }, [[]], pageSize: 1_000)
        #expect(merge.withoutDocument.count == 12_000)
        #expect(merge.withoutDocument.items.count == ObjectMerge.maxKept)
    }

    @Test func `a field is a collection and a path`() throws {
        let root = try AuditedField("users:profile.picture", isGroup: false)
        #expect(root.collectionID == "users" && root.parent == nil)
        #expect(root.name == "profile.picture")
        let below = try AuditedField("chats/blue/messages:photo", isGroup: false)
        #expect(below.parent?.text == "chats/blue" && below.collectionID == "messages")
        #expect(try AuditedField("messages:photo", isGroup: true).isGroup)
        for text in ["users", "users:", ":photo", "users/a:photo", "users:a..b"] {
            #expect(throws: AuditError.self) { try AuditedField(text, isGroup: false) }
        }
        #expect(throws: AuditError.self) { try AuditedField("a/b/c:photo", isGroup: true) }
    }
}
