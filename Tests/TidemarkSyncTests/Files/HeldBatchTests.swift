import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting
import TidemarkTestKit

@testable import TidemarkSync

/// Batches that wait for files: journalled in one step, sent when the objects exist, in an order
/// that a kill does not change.
struct HeldBatchTests {
    private func file(
        _ document: String, _ name: String = "photos/1.jpg", size: Int64 = 10
    ) -> AttachedFile {
        AttachedFile(
            document: path(document), field: field("photo"),
            object: ObjectName(bucket: "b", name: name), size: size, facts: [7])
    }

    private func message(_ name: String, _ object: String = "photos/1.jpg") -> Mutation {
        set(name, ["photo": .map(["path": .string(object), "size": .integer(10)])])
    }

    private func attach(
        _ world: Harness, _ mutations: [Mutation], _ files: [AttachedFile],
        maxFiles: Int = 100, maxBytes: Int64 = 1_000
    ) -> Events<SyncEngine.WriteEvent> {
        let events = Events<SyncEngine.WriteEvent>()
        let attached = AttachedFiles(files, maxFiles: maxFiles, maxBytes: maxBytes)
        world.engine.session.write(mutations, attaching: attached) { events.record($0) }
        world.run()
        return events
    }

    private func contents(_ world: Harness) throws -> QueuedFiles {
        let events = Events<Result<QueuedFiles, SyncError>>()
        world.engine.session.files { events.record($0) }
        world.run()
        return try #require(events.all.first).get()
    }

    @discardableResult
    private func finish(_ world: Harness, _ file: Int64) throws -> Bool {
        let events = Events<Result<Bool, SyncError>>()
        world.engine.session.finishFile(file, [1]) { events.record($0) }
        world.run()
        return try #require(events.all.first).get()
    }

    private func discard(_ world: Harness, _ file: Int64) throws -> Bool {
        let events = Events<Result<Bool, SyncError>>()
        world.engine.session.discardFile(file) { events.record($0) }
        world.run()
        return try #require(events.all.first).get()
    }

    /// The documents of all writes that were sent on the newest stream, in order.
    private func sent(_ world: Harness) -> [String] {
        guard let stream = world.transport.writes.last else { return [] }
        return stream.sent.flatMap { $0.mutations.map(\.path.text) }
    }

    private func pendingIDs(_ world: Harness) -> [Int64] {
        world.engine.core.local.queue.pending.batches.map(\.id)
    }

    @Test func `a document waits for its file, and others do not`() throws {
        let world = try Harness()
        let photo = attach(world, [message("chats/a")], [file("chats/a")])
        let text = world.write(set("chats/b", [:]))
        #expect(photo.all == [.journalled(batch: 1)])
        world.shakeHands()
        #expect(sent(world) == ["chats/b"])
        world.acknowledge(at: 1)
        #expect(text.all.last == .acknowledged(commitTime: at(1)))
        #expect(photo.all.count == 1)
        let row = try #require(try contents(world).files.first)
        #expect(row.state == .waiting && row.batch == 1 && row.file == file("chats/a"))
        #expect(try finish(world, row.id))
        #expect(sent(world) == ["chats/b", "chats/a"])
        world.acknowledge(at: 2)
        #expect(photo.all.last == .acknowledged(commitTime: at(2)))
        #expect(try contents(world).files.map(\.state) == [.over])
    }

    @Test func `what is shown includes the document at once`() throws {
        let world = try Harness()
        _ = attach(world, [message("chats/a")], [file("chats/a")])
        let read = world.read(path("chats/a"), source: .cache)
        #expect(try read.all[0].get().ids == ["a"])
    }

    @Test func `later writes of the same document stay behind, in order`() throws {
        let world = try Harness()
        _ = attach(world, [message("chats/a")], [file("chats/a")])
        _ = world.write(set("chats/a", ["n": .integer(2)]), set("chats/b", [:]))
        _ = world.write(set("chats/b", ["n": .integer(3)]))
        _ = world.write(set("chats/c", [:]))
        world.shakeHands()
        #expect(sent(world) == ["chats/c"])
        world.acknowledge(at: 1)
        try finish(world, 1)
        #expect(sent(world) == ["chats/c", "chats/a", "chats/a", "chats/b", "chats/b"])
    }

    @Test func `two files of a batch are both awaited`() throws {
        let world = try Harness()
        _ = attach(
            world, [message("chats/a"), message("chats/b")],
            [file("chats/a"), file("chats/b", "photos/2.jpg")])
        try finish(world, 1)
        #expect(sent(world) == [])
        try finish(world, 2)
        world.shakeHands()
        #expect(sent(world) == ["chats/a", "chats/b"])
    }

    /// The server knows the order in which batches were sent. After a restart, the answers that it
    /// repeats are assigned by that order, so a batch that overtook another one stays before it.
    @Test func `the order of sending survives a kill`() throws {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        _ = attach(world, [message("chats/a")], [self.file("chats/a")])
        _ = world.write(set("chats/b", [:]))
        world.shakeHands()
        try finish(world, 1)
        #expect(sent(world) == ["chats/b", "chats/a"])
        world.engine.abandon()
        let next = try Harness(cacheFile: file.path)
        #expect(pendingIDs(next) == [1, 2])
        next.shakeHands()
        #expect(sent(next) == ["chats/b", "chats/a"])
    }

    @Test func `a kill before the upload keeps file and document together`() throws {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        _ = attach(world, [message("chats/a")], [self.file("chats/a")])
        world.engine.abandon()
        let next = try Harness(cacheFile: file.path)
        #expect(next.transport.writes.isEmpty)
        #expect(try contents(next).files.count == 1)
        try finish(next, 1)
        next.shakeHands()
        #expect(sent(next) == ["chats/a"])
    }

    @Test func `a disk that fails stores neither document nor file`() throws {
        let world = try Harness()
        world.disk.fail([.writeLocally], with: .full)
        let photo = attach(world, [message("chats/a")], [file("chats/a")])
        #expect(photo.all == [.failed(.storage(.full))])
        world.disk.recover()
        #expect(try contents(world).files.isEmpty)
        #expect(pendingIDs(world).isEmpty)
    }

    @Test func `an end of an upload that cannot be stored releases nothing`() throws {
        let world = try Harness()
        _ = attach(world, [message("chats/a")], [file("chats/a")])
        world.disk.fail([.changeFiles], with: .full)
        #expect(throws: SyncError.storage(.full)) { try finish(world, 1) }
        world.shakeHandsIfOpen()
        #expect(sent(world) == [])
        world.disk.recover()
        try finish(world, 1)
        world.shakeHandsIfOpen()
        #expect(sent(world) == ["chats/a"])
    }

    @Test func `the bounds of the queue refuse the write as a whole`() throws {
        let world = try Harness()
        _ = attach(world, [message("chats/a")], [file("chats/a")])
        let many = attach(world, [message("chats/b")], [file("chats/b")], maxFiles: 1)
        let large = attach(
            world, [message("chats/b")], [file("chats/b", size: 991)], maxBytes: 1_000)
        for events in [many, large] {
            guard case .failed(.server(let status))? = events.all.first else {
                Issue.record("the write was accepted")
                continue
            }
            #expect(status.code == .resourceExhausted)
        }
        #expect(try contents(world).files.count == 1)
    }

    @Test func `a discarded file takes its batch along, and lets the next one go`() throws {
        let world = try Harness()
        let photo = attach(world, [message("chats/a")], [file("chats/a")])
        _ = world.write(set("chats/a", ["n": .integer(2)]))
        #expect(try discard(world, 1))
        guard case .failed(.server(let status))? = photo.all.last else {
            Issue.record("the writer was not told")
            return
        }
        #expect(status.code == .cancelled)
        let after = try contents(world)
        #expect(after.files.map(\.state) == [.over])
        #expect(after.removals.map(\.object) == [ObjectName(bucket: "b", name: "photos/1.jpg")])
        world.shakeHands()
        #expect(sent(world) == ["chats/a"])
        #expect(try !discard(world, 1), "nothing waits any more")
    }

    @Test func `a refused document gives its objects back, and a retry sends the file again`()
        throws
    {
        let world = try Harness()
        _ = attach(world, [message("chats/a")], [file("chats/a")])
        try finish(world, 1)
        world.shakeHands()
        world.writeStream.end(RPCStatus(.permissionDenied, "no"))
        world.run()
        let refused = try contents(world)
        #expect(refused.files.map(\.state) == [.rejected])
        #expect(refused.removals.map(\.object.name) == ["photos/1.jpg"])
        let events = Events<SyncEngine.WriteEvent>()
        world.engine.retryRejectedWrite(1) { events.record($0) }
        world.run()
        // The turn of the first batch has taken the number 2.
        #expect(events.all == [.journalled(batch: 3)])
        let again = try contents(world)
        #expect(again.files.map(\.state) == [.waiting])
        #expect(again.files.map(\.batch) == [3])
        #expect(again.files.map(\.file.object.name) == ["photos/1-1.jpg"])
        let batch = try #require(world.engine.core.local.queue.pending.batch(3))
        #expect(batch.mutations == [message("chats/a", "photos/1-1.jpg")])
        #expect(again.removals.count == 1, "the first object is still to be deleted")
    }

    @Test func `a refused document that is discarded lets its copy go`() throws {
        let world = try Harness()
        _ = attach(world, [message("chats/a")], [file("chats/a")])
        try finish(world, 1)
        world.shakeHands()
        world.writeStream.end(RPCStatus(.permissionDenied, "no"))
        world.run()
        world.engine.discardRejectedWrite(1) { _ in }
        world.run()
        #expect(try contents(world).files.map(\.state) == [.over])
    }

    @Test func `waiting for all writes includes those that wait for files`() throws {
        let world = try Harness()
        _ = attach(world, [message("chats/a")], [file("chats/a")])
        _ = world.write(set("chats/b", [:]))
        let done = Events<SyncError?>()
        world.engine.waitForPendingWrites { done.record($0) }
        world.shakeHands()
        world.acknowledge(at: 1)
        #expect(done.all.isEmpty)
        try finish(world, 1)
        world.acknowledge(at: 2)
        #expect(done.all.count == 1)
    }

    @Test func `files of one user are not another's`() throws {
        let world = try Harness(user: "ann", sharesCache: true)
        _ = attach(world, [message("chats/a")], [file("chats/a")])
        let session = world.engine.session
        world.engine.changeUser(to: "bob") { _ in }
        world.run()
        #expect(try contents(world).files.isEmpty)
        let late = Events<Result<Bool, SyncError>>()
        session.finishFile(1, []) { late.record($0) }
        world.run()
        #expect(late.all == [.failure(.userChanged)])
        #expect(try !finish(world, 1))
        world.engine.changeUser(to: "ann") { _ in }
        world.run()
        #expect(try contents(world).files.count == 1)
        try finish(world, 1)
        world.shakeHands()
        #expect(sent(world) == ["chats/a"])
    }

    @Test func `a write for another user than that of its files is refused`() throws {
        let world = try Harness(user: "ann", sharesCache: true)
        let session = world.engine.session
        world.engine.changeUser(to: "bob") { _ in }
        world.run()
        let events = Events<SyncEngine.WriteEvent>()
        let attached = AttachedFiles([file("chats/a")], maxFiles: 9, maxBytes: 99)
        session.write([message("chats/a")], attaching: attached) { events.record($0) }
        world.run()
        #expect(events.all == [.failed(.userChanged)])
        #expect(pendingIDs(world).isEmpty)
    }

    @Test func `a window shows what needs work, and not the whole queue`() throws {
        let world = try Harness()
        for number in 1...6 {
            let size: Int64 = number.isMultiple(of: 2) ? 500 : 10
            _ = attach(
                world, [message("chats/\(number)")],
                [file("chats/\(number)", "photos/\(number)", size: size)], maxBytes: 10_000)
        }
        try finish(world, 1)
        func ids(_ running: [Int64], limit: Int) throws -> [Int64] {
            let events = Events<Result<QueuedFiles, SyncError>>()
            world.engine.session.filesToSend(
                FileWindow(smallBytes: 100, limit: limit, running: running)
            ) { events.record($0) }
            world.run()
            return try #require(events.all.first).get().files.map(\.id)
        }
        #expect(try ids([], limit: 1) == [1, 2, 3])
        #expect(try ids([6], limit: 1) == [1, 2, 3, 6])
        #expect(try ids([], limit: 9) == [1, 2, 3, 4, 5, 6])
    }

    /// Files that wait for Wi-Fi would fill the window if it did not know their rules.
    @Test func `a window has no files that the network excludes`() throws {
        let world = try Harness()
        for number in 1...5 {
            var file = self.file("chats/\(number)", "photos/\(number)")
            file.networkRules = [1, 3, 2, 0, 4][number - 1]
            _ = attach(world, [message("chats/\(number)")], [file], maxBytes: 10_000)
        }
        func ids(_ broken: Int64, _ running: [Int64] = []) throws -> [Int64] {
            let events = Events<Result<QueuedFiles, SyncError>>()
            world.engine.session.filesToSend(
                FileWindow(smallBytes: 100, limit: 2, running: running, brokenRules: broken)
            ) { events.record($0) }
            world.run()
            return try #require(events.all.first).get().files.map(\.id)
        }
        #expect(try ids(0) == [1, 2])
        #expect(try ids(1) == [3, 4])
        #expect(try ids(2) == [1, 4])
        #expect(try ids(3) == [4, 5])
        #expect(try ids(3, [2]) == [2, 4, 5], "a file that runs is always there")
        #expect(try contents(world).files.map(\.file.networkRules) == [1, 3, 2, 0, 4])
    }

    @Test func `a damaged cache keeps the files of its queue`() throws {
        let world = try Harness()
        _ = attach(world, [message("chats/a")], [file("chats/a")])
        let old = world.engine.core.local
        var saved = SavedQueue()
        saved.replace(nil, with: old.queue.pending.batches)
        saved.files.replaceTurns(by: old.queue.pending.turns)
        // The rows of files could not be read: the document must not be sent without its file.
        let new = try LocalStore(.memory, database: Harness.database)
        try new.queue.restore(saved, nil)
        #expect(new.queue.pending.isEmpty)
        #expect(try new.queue.rejectedWrites().map(\.batch) == [1])
    }

    @Test func `a damaged file is read as far as it can be`() throws {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        var attached = self.file("chats/a")
        attached.networkRules = 3
        _ = attach(world, [message("chats/a")], [attached])
        world.engine.abandon()
        let saved = try SavedQueue(salvaging: file.path, key: nil)
        let new = try LocalStore(.memory, database: Harness.database)
        try new.queue.restore(saved, nil)
        #expect(new.queue.pending.isHeld(1))
        #expect(try new.queue.readFiles { try $0.all($1) }.map(\.file) == [attached])
    }

    @Test func `another name keeps the ending`() {
        func renamed(_ name: String) -> String {
            ObjectName(bucket: "b", name: name).renamed(7).name
        }
        #expect(renamed("a.b/photo.jpg") == "a.b/photo-7.jpg")
        #expect(renamed("a.b/photo") == "a.b/photo-7")
        #expect(renamed("photo") == "photo-7")
        #expect(renamed(".hidden") == "-7.hidden")
    }
}

extension Harness {
    fileprivate func shakeHandsIfOpen() {
        if !transport.writes.isEmpty { shakeHands() }
    }
}
