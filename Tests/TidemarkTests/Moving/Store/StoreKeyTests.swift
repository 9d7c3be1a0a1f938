import Testing
import TidemarkTestKit

@testable import Tidemark

struct `A key of FirebaseFirestore's cache` {
    @Test(arguments: ["rooms/a", "a\0b/c\u{ff}", "a/b/c/d", "ü/\u{10FFFF}"])
    func `is read and made as it is written`(path: String) {
        #expect(StoreKey.document(TestKey.document(path)) == path)
        #expect(StoreKey.document(at: path) == TestKey.document(path))
        for id in [1, 2, 63, 64, 70, 8_191, 8_192, 1 << 20, Int(Int32.max)] {
            let row = TestKey.targetDocument(id, path)
            #expect(StoreKey.targetDocument(row).map { Int($0.target) } == id)
            #expect(StoreKey.targetDocument(row)?.path == path)
            #expect(row.starts(with: StoreKey.documents(ofTarget: Int32(id))))
            #expect(StoreKey.target(TestKey.target(id)).map(Int.init) == id)
            let other = TestKey.documentTarget(path, id)
            #expect(StoreKey.documentTarget(other)?.path == path)
            #expect(StoreKey.documentTarget(other).map { Int($0.target) } == id)
            #expect(other.starts(with: StoreKey.documentTargets(of: path)))
        }
    }

    @Test func `of another form is none`() {
        let key = TestKey.document("rooms/a")
        #expect(StoreKey.document(key.dropLast() + []) == nil)
        #expect(StoreKey.document(key + [0x80]) == nil)
        #expect(StoreKey.targetDocument(TestKey.target(2)) == nil)
        #expect(
            StoreKey.documentTarget(TestKey.table("document_target") + [0x8C, 0x82, 0x80]) == nil)
    }
}
