import Testing
import TidemarkModel
import TidemarkTesting
import TidemarkTestKit

@testable import TidemarkSync

// The examples of doc comments, line by line. The tidy tests compare them.

struct `The doc comments of what tests play` {
    private let configuration = SyncEngine.Configuration(
        database: Harness.database, cacheFile: nil)

    @Test func `show how an engine runs on virtual time and a scripted server`() throws {
        let transport = ScriptedTransport()
        let scheduler = VirtualScheduler()
        let environment = SyncEnvironment(
            transport: transport, scheduler: scheduler, now: { scheduler.now }, random: { 0.5 })
        let engine = try SyncEngine(configuration, environment)
        let listener = Listener()
        listener.handle = engine.listen(
            rooms(), .init(includeMetadataChanges: false, source: .default)
        ) { listener.record($0) }
        scheduler.runUntilIdle()
        let stream = transport.listens.last!
        stream.push(.targetChange(TargetChange(.add, targetIDs: [1])))
        scheduler.runUntilIdle()
        #expect(!stream.sent.isEmpty)
    }

    @Test func `show how a disk fails`() throws {
        let (disk, scheduler) = (FaultyDisk<StorageStep>(), VirtualScheduler())
        var environment = SyncEnvironment(
            transport: ScriptedTransport(), scheduler: scheduler, now: { scheduler.now },
            random: { 0.5 })
        environment.storageFault = disk.fault
        disk.fail([.writeLocally])
        let engine = try SyncEngine(configuration, environment)
        engine.write([set("rooms/a", [:])]) { _ in }
        scheduler.runUntilIdle()
        #expect(disk.failures == 1)
    }
}
