import Testing
import TidemarkModel

@testable import TidemarkSync

struct WatchAggregatorTests {
    private var held: [Int32: Set<DocumentPath>] = [:]
    private var machine = WatchAggregator(database: Harness.database)

    private mutating func receive(_ response: ListenResponse) -> [WatchAggregator.Effect] {
        let held = held
        return machine.step(.received(response), remoteKeys: { held[$0] ?? [] })
    }

    private mutating func listen(_ wire: Int32, _ target: Int32) {
        _ = machine.step(
            .listening(wireID: wire, targetID: target, .query(rooms())), remoteKeys: { _ in [] })
    }

    private mutating func add(_ wire: Int32) {
        #expect(receive(.targetChange(TargetChange(.add, targetIDs: [wire]))).isEmpty)
    }

    private mutating func raise(_ time: Int64) throws -> RemoteEvent {
        let effects = receive(.targetChange(TargetChange(.noChange, readTime: at(time))))
        guard effects.count == 1, case .raise(let event) = effects[0] else { throw Unexpected() }
        return event
    }

    @Test mutating func `what comes before the target is acknowledged is dropped`() throws {
        listen(1, 2)
        _ = receive(.documentChange(DocumentChange(doc("rooms/a", 5), targetIDs: [1])))
        #expect(try raise(10) == RemoteEvent(version: at(10)))
        add(1)
        _ = receive(.documentChange(DocumentChange(doc("rooms/a", 5), targetIDs: [1])))
        let event = try raise(11)
        #expect(event.targets == [2: TargetDelta(added: [path("rooms/a")])])
        #expect(event.documents.keys.map(\.id) == ["a"])
    }

    @Test mutating func `unknown targets are ignored`() throws {
        add(7)
        _ = receive(.documentChange(DocumentChange(doc("rooms/a", 5), targetIDs: [7])))
        #expect(try raise(10) == RemoteEvent(version: at(10)))
    }

    @Test mutating func `added or modified is judged by what was shown last`() throws {
        held = [2: [path("rooms/a")]]
        listen(1, 2)
        add(1)
        for name in ["rooms/a", "rooms/b"] {
            _ = receive(.documentChange(DocumentChange(doc(name, 5), targetIDs: [1])))
        }
        let delta = try #require(try raise(10).targets[2])
        #expect(delta.modified == [path("rooms/a")] && delta.added == [path("rooms/b")])
    }

    @Test mutating func `added and removed before a snapshot is nothing`() throws {
        listen(1, 2)
        add(1)
        _ = receive(.documentChange(DocumentChange(doc("rooms/a", 5), targetIDs: [1])))
        _ = receive(
            .documentDelete(
                DocumentRemoval(path("rooms/a"), removedTargetIDs: [1], readTime: at(6))))
        let event = try raise(10)
        #expect(event.targets[2] == TargetDelta())
        #expect(event.documents == [path("rooms/a"): .missing(path("rooms/a"), at(6))])
    }

    @Test mutating func `a reset takes back everything that was shown`() throws {
        held = [2: [path("rooms/a"), path("rooms/b")]]
        listen(1, 2)
        add(1)
        _ = receive(.targetChange(TargetChange(.reset, targetIDs: [1])))
        _ = receive(.documentChange(DocumentChange(doc("rooms/a", 5), targetIDs: [1])))
        let delta = try #require(try raise(10).targets[2])
        #expect(delta.modified == [path("rooms/a")] && delta.removed == [path("rooms/b")])
    }

    @Test mutating func `a refusal names the target and ends it`() throws {
        listen(1, 2)
        add(1)
        let status = RPCStatus(.permissionDenied, "no")
        let refusal = ListenResponse.targetChange(
            TargetChange(.remove, targetIDs: [1], cause: status))
        #expect(receive(refusal) == [.rejected(targetID: 2, status)])
        #expect(receive(refusal).isEmpty)
    }

    @Test mutating func `the newer of two words on a document counts, whichever comes last`() throws
    {
        listen(1, 2)
        add(1)
        listen(3, 4)
        add(3)
        _ = receive(
            .documentDelete(
                DocumentRemoval(path("rooms/a"), removedTargetIDs: [1], readTime: at(9))))
        _ = receive(.documentChange(DocumentChange(doc("rooms/a", 5), targetIDs: [3])))
        #expect(try raise(10).documents == [path("rooms/a"): .missing(path("rooms/a"), at(9))])
    }

    @Test mutating func `one target's document does not hide that another's is missing`() throws {
        // Target 3 is a limbo target for a document that a query's target updates in the same
        // snapshot.
        listen(1, 2)
        add(1)
        _ = machine.step(
            .listening(wireID: 3, targetID: 5, .documents([path("rooms/a")])),
            remoteKeys: { _ in [] })
        add(3)
        _ = receive(.documentChange(DocumentChange(doc("rooms/b", 5), targetIDs: [1])))
        _ = receive(.targetChange(TargetChange(.current, targetIDs: [3])))
        let event = try raise(10)
        #expect(event.documents[path("rooms/a")] == .missing(path("rooms/a"), at(10)))
        #expect(event.documents[path("rooms/b")] == .found(doc("rooms/b", 5)))
    }
}
