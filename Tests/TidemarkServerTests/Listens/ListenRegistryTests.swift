import Testing
import TidemarkModel

@testable import TidemarkServer

struct ListenRegistryTests {
    private func target(_ stream: CallID, _ id: Int32, _ kind: ListenTarget.Kind) -> LiveTarget {
        LiveTarget(streamID: stream, id: id, kind: kind)
    }

    @Test func `bounds the documents of all targets, beside the first of each`() throws {
        var registry = ListenRegistry()
        registry.maxDocuments = 10
        let context = CallContext(database: try DatabaseID(project: "p"))
        registry.open(1, context)
        registry.open(2, context)
        let six = ListenTarget.Kind.documents((0..<6).map { path("c/\($0)") })
        let two = ListenTarget.Kind.documents([path("c/a"), path("c/b")])
        #expect(registry.hasRoom(for: six))
        registry.add(target(1, 1, six))
        #expect(registry.hasRoom(for: six))
        registry.add(target(2, 1, six))
        #expect(!registry.hasRoom(for: two))
        #expect(registry.hasRoom(for: .documents([path("c/a")])), "a client names one")
        #expect(registry.hasRoom(for: .query(collection("c"))))
        registry.remove(1, of: 1)
        #expect(registry.hasRoom(for: six))
        registry.add(target(1, 2, six))
        #expect(!registry.hasRoom(for: two))
        let isClosed = registry.close(2)
        #expect(isClosed)
        #expect(registry.hasRoom(for: six))
    }
}
