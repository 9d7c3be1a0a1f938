import Dispatch
import Synchronization
import Testing
import TidemarkTesting
import TidemarkTestKit

@testable import Tidemark

/// Tests the states that an app can show: whether the device can store, and which writes wait for
/// the server.
@Suite(.timeLimit(.minutes(2))) struct `A client tells` {
    private let transport = ScriptedTransport()
    private let scheduler = VirtualScheduler()
    private let disk = FaultyDisk<StorageStep>()

    private func client(on queue: DispatchQueue) throws -> Firestore {
        let settings = FirestoreSettings(cache: .memory)
        settings.dispatchQueue = queue
        var environment = SyncEnvironment(
            transport: transport, scheduler: scheduler, now: { [scheduler] in scheduler.now },
            random: { 0.5 })
        environment.storageFault = disk.fault
        return try Firestore(projectID: "p", settings: settings, environment: environment)
    }

    @Test func `that its storage fails, and that it works again`() async throws {
        let queue = DispatchQueue(label: "test")
        let app = try client(on: queue)
        var states = app.storageStates.makeAsyncIterator()
        let heard = Mutex<[StorageState]>([])
        let registration = app.addStorageStateListener { state in
            heard.withLock { $0.append(state) }
        }
        scheduler.runUntilIdle()
        #expect(await states.next() == .available)
        disk.fail([.writeLocally, .probe])
        app.document("rooms/a").setData(["n": 1]) { _ in }
        scheduler.runUntilIdle()
        #expect(await states.next() == .failing(.full))
        disk.recover()
        scheduler.advance(by: .seconds(90))
        #expect(await states.next() == .available)
        queue.sync {}
        #expect(heard.withLock { $0 } == [.available, .failing(.full), .available])
        registration.remove()
        disk.fail([.writeLocally, .probe])
        app.document("rooms/a").setData(["n": 3]) { _ in }
        scheduler.runUntilIdle()
        queue.sync {}
        #expect(heard.withLock { $0 }.count == 3)
    }

    @Test func `how many writes wait, and since when`() async throws {
        let app = try client(on: DispatchQueue(label: "test"))
        var states = app.writeQueueStates.makeAsyncIterator()
        scheduler.runUntilIdle()
        let empty = try #require(await states.next())
        #expect(empty.pending == 0 && empty.oldest == nil && empty.rejected == 0)
        let first = scheduler.now
        for number in 1...2 {
            app.document("rooms/a").setData(["n": number]) { _ in }
            scheduler.runUntilIdle()
            scheduler.advance(by: .seconds(1))
        }
        let full = try #require(await states.next())
        #expect(full.pending == 2 && full.oldest == first && full.rejected == 0)
    }
}
