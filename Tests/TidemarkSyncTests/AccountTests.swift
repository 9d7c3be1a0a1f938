import Foundation
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting
import TidemarkTestKit

@testable import TidemarkSync

/// The engine has a separate cache for each user, and one user at a time.
struct AccountTests {
    let folder = TemporaryFolder()

    private func world(
        user: String? = nil, disk: FaultyDisk<StorageStep> = FaultyDisk<StorageStep>()
    ) throws -> Harness {
        try Harness(cacheFile: folder.file("cache.sqlite"), disk: disk, user: user)
    }

    @discardableResult
    private func change(
        _ world: Harness, to user: String?, erasing: Bool = false
    ) -> Events<SyncError?> {
        let ends = Events<SyncError?>()
        world.engine.changeUser(to: user, erasesPrevious: erasing) { ends.record($0) }
        world.run()
        return ends
    }

    @Test func `nothing that one user has read is another's`() throws {
        let world = try world(user: "ann")
        let listener = world.listen(rooms(), metadata: true)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20, token: [7])
        _ = listener.take()
        #expect(change(world, to: "ben").all == [nil])
        let event = try listener.snapshot()
        #expect(event.ids.isEmpty && event.isFromCache && event.summary == ["removed a"])
        #expect(world.transport.listens.count == 2)
        #expect(world.added.map(\.resume) == [.fromScratch])
        for source in [ReadSource.cache, .default] {
            let read = world.read(path("rooms/a"), source: source, deadline: .zero)
            guard case .failure(.notInCache)? = read.all.first else { throw Unexpected() }
        }
        world.answer(world.added[0].id, [doc("rooms/b", 30)], at: 40)
        #expect(try listener.snapshot().ids == ["b"])
        change(world, to: "ann")
        let back = try listener.snapshot()
        #expect(back.ids == ["a"] && back.isFromCache)
        #expect(Set(back.summary) == ["removed b", "added a"])
        #expect(world.added.map(\.resume) == [.token([7])])
    }

    @Test func `pending writes stay with who wrote them, and are sent when it is the user again`()
        throws
    {
        let world = try world(user: "ann")
        let listener = world.listen(rooms(), source: .cache)
        let events = world.write(set("rooms/a", ["n": .integer(1)]))
        world.shakeHands()
        _ = listener.take()
        let waited = Events<SyncError?>()
        world.engine.waitForPendingWrites { waited.record($0) }
        change(world, to: "ben")
        #expect(waited.all == [.userChanged])
        #expect(world.writeStream.isFinished)
        #expect(try listener.snapshot().ids.isEmpty)
        let ben = world.write(set("rooms/b", [:]))
        #expect(world.transport.writes.count == 2)
        world.shakeHands()
        // Both users have a batch with the number 1. This response is for ben's batch.
        world.acknowledge(at: 30)
        #expect(ben.all == [.journalled(batch: 1), .acknowledged(commitTime: at(30))])
        #expect(events.all == [.journalled(batch: 1)])
        change(world, to: "ann")
        world.shakeHands()
        #expect(world.writeStream.sent.last?.mutations == [set("rooms/a", ["n": .integer(1)])])
        world.acknowledge(at: 40)
        #expect(events.all == [.journalled(batch: 1), .acknowledged(commitTime: at(40))])
    }

    @Test func `a read under way is not answered to the next user, nor stored for them`() throws {
        let world = try world(user: "ann")
        let read = world.read(path("rooms/a"), source: .server)
        let call = try #require(world.transport.calls.last)
        change(world, to: "ben")
        #expect(read.all.count == 1)
        #expect(call.isEnded)
        guard case .failure(.server(let status))? = read.all.first, status.code == .cancelled
        else { throw Unexpected() }
        let cached = world.read(path("rooms/a"), source: .cache)
        #expect(cached.all == [.failure(.notInCache(reason: .askedForCache))])
    }

    @Test func `a switch that fails serves nobody, says why, and is done later, in order`() throws {
        let world = try world(user: "ann")
        let listener = world.listen(rooms(), metadata: true, source: .cache)
        _ = world.write(set("rooms/a", [:]))
        _ = listener.take()
        world.disk.fail([.handleUserChange, .probe])
        let first = change(world, to: "ben")
        let second = change(world, to: "cid")
        #expect(first.all.isEmpty && second.all.isEmpty)
        #expect(listener.take().isEmpty)
        #expect(world.write(set("rooms/b", [:])).all == [.failed(.storage(.full))])
        #expect(
            world.read(path("rooms/a"), source: .cache).all == [.failure(.storage(.full))])
        world.scheduler.fire(.storageRetry)
        #expect(first.all.isEmpty)
        world.disk.recover()
        world.scheduler.fire(.storageRetry)
        #expect(first.all == [nil] && second.all == [nil])
        #expect(listener.take().last.map { try? $0.get().ids } == [])
        #expect(world.write(set("rooms/c", [:])).all == [.journalled(batch: 1)])
        change(world, to: "ben")
        #expect(try #require(listener.take().last).get().ids.isEmpty)
        change(world, to: "ann")
        #expect(try listener.snapshot().ids == ["a"])
    }

    /// The listener learns that the client is offline only after the change of user, together with
    /// the next user's rows.
    @Test func `while a switch waits, nobody is shown the user before once more`() throws {
        let world = try world(user: "ann")
        let listener = world.listen(rooms(), metadata: true)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20, token: [7])
        _ = listener.take()
        world.disk.fail([.handleUserChange, .probe])
        let ends = change(world, to: "ben")
        #expect(ends.all.isEmpty)
        world.engine.setNetworkEnabled(false) {}
        world.run()
        #expect(listener.take().isEmpty)
        world.disk.recover()
        world.scheduler.fire(.storageRetry)
        #expect(ends.all == [nil])
        let event = try listener.snapshot()
        #expect(event.ids.isEmpty && event.isFromCache)
    }

    @Test func `a damaged cache of the next user costs the present one nothing`() throws {
        let world = try world(user: "ben")
        _ = world.write(set("rooms/b", [:]))
        change(world, to: "ann")
        _ = world.write(set("rooms/a", [:]))
        let listener = world.listen(rooms(), source: .cache)
        _ = listener.take()
        world.disk.fail([.handleUserChange], with: .corrupt(detail: "a page"), times: 1)
        let done = change(world, to: "ben")
        #expect(done.all.isEmpty && listener.take().isEmpty)
        world.scheduler.fire(.storageRetry)
        #expect(done.all == [nil])
        #expect(try listener.snapshot().ids == ["b"])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.file("."))
        #expect(files.filter { $0.hasSuffix(".damaged") } == ["cache.user-mjsw4.sqlite.damaged"])
        change(world, to: "ann")
        #expect(try listener.snapshot().ids == ["a"])
    }

    @Test func `a sign-out can wipe`() throws {
        let world = try world(user: "ann")
        let events = world.write(set("rooms/a", [:]))
        let file = folder.file("cache.user-mfxg4.sqlite")
        #expect(FileManager.default.fileExists(atPath: file))
        #expect(change(world, to: nil, erasing: true).all == [nil])
        #expect(events.all == [.journalled(batch: 1), .failed(.userChanged)])
        #expect(!FileManager.default.fileExists(atPath: file))
        change(world, to: "ann")
        let read = world.read(path("rooms/a"), source: .cache)
        #expect(read.all == [.failure(.notInCache(reason: .askedForCache))])
        #expect(world.engine.core.local.queue.pending.isEmpty)
    }

    @Test func `the user is the cache's, also after a restart`() throws {
        var world = try world(user: "ann")
        _ = world.write(set("rooms/a", [:]))
        change(world, to: "ben")
        world.terminate()
        world = try self.world(user: "ann")
        #expect(world.read(path("rooms/a"), source: .cache).all.count == 1)
        #expect(world.listen(rooms(), source: .cache).take().count == 1)
        #expect(world.engine.core.local.queue.pending.batches.count == 1)
    }

    @Test func `caches in memory are apart too, and keep what waits to be sent`() throws {
        let world = try Harness(user: "ann")
        let events = world.write(set("rooms/a", [:]))
        change(world, to: "ben")
        #expect(world.engine.core.local.queue.pending.isEmpty)
        let read = world.read(path("rooms/a"), source: .cache)
        #expect(read.all == [.failure(.notInCache(reason: .askedForCache))])
        change(world, to: "ann")
        world.shakeHands()
        world.acknowledge(at: 30)
        #expect(events.all.last == .acknowledged(commitTime: at(30)))
    }

    @Test func `ids of users make file names that no disk mixes up`() {
        let names = ["a", "A", "a/b", "..", "é", "e\u{301}", String(repeating: "x", count: 128)]
            .map { CacheFiles.base32(Array($0.utf8)) }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.utf8.count <= 205 && !$0.contains { $0.isUppercase } })
        #expect(CacheFiles.base32(Array("foobar".utf8)) == "mzxw6ytboi")
    }

    @Test func `ids that are none are refused`() throws {
        let world = try world()
        for user in ["", String(repeating: "x", count: 129)] {
            guard case .invalidArgument?? = change(world, to: user).all.first else {
                throw Unexpected()
            }
            #expect(throws: SyncError.self) { try self.world(user: user) }
        }
    }
}

/// A folder that is deleted with its contents when this object is released.
final class TemporaryFolder {
    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidemark-\(UUID().uuidString)")

    func file(_ name: String) -> String { url.appendingPathComponent(name).path }

    deinit { try? FileManager.default.removeItem(at: url) }
}
