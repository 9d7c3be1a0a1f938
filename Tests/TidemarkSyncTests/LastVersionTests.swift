import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

/// A listener never sees older data after newer data, even across a restart.
struct LastVersionTests {
    /// The last snapshot's version on disk may be older than the snapshot. The version is then read
    /// from the target, which was stored with the snapshot.
    @Test(arguments: [true, false])
    func `a snapshot from before the last one is not shown after a start`(isKilled: Bool) throws {
        let file = TemporaryFile()
        var world = try Harness(cacheFile: file.path)
        _ = world.listen(rooms())
        let document = doc("rooms/a", 10, ["likes": .integer(1)])
        world.answer(world.added.last!.id, [document], at: 20)
        world.push(
            .documentChange(
                DocumentChange(
                    doc("rooms/a", 40, ["likes": .integer(4)]),
                    targetIDs: [world.added.last!.id])),
            .targetChange(TargetChange(.noChange, resumeToken: [40], readTime: at(40))))
        if isKilled { world.engine.abandon() } else { world.terminate() }
        world = try Harness(cacheFile: file.path)
        if !isKilled { #expect(world.engine.core.local.targets.lastVersion == at(40)) }
        let listener = world.listen(rooms())
        #expect(world.engine.core.local.targets.lastVersion == at(40))
        _ = try listener.take().last?.get()
        let id = world.added.last!.id
        world.push(
            .targetChange(TargetChange(.add, targetIDs: [id])),
            .documentChange(DocumentChange(doc("rooms/b", 25), targetIDs: [id])),
            .targetChange(TargetChange(.noChange, resumeToken: [30], readTime: at(30))))
        #expect(listener.take().isEmpty)
        world.snapshot(50)
        #expect(try listener.take().last?.get().count == 2)
    }
}
