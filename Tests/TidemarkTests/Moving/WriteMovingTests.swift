import Foundation
import Testing
import TidemarkModel
import TidemarkServer
import TidemarkTesting

@testable import Tidemark

/// Tests that this client sends the writes that FirebaseFirestore has not sent, once each.
@Suite(.timeLimit(.minutes(2))) struct `Writes that FirebaseFirestore has not sent` {
    private let local: LocalFirestore
    private let folder: TemporaryFolder

    init() throws {
        local = try LocalFirestore.start(projectID: "moving")
        folder = try TemporaryFolder()
    }

    private func phone(
        _ user: String?, in path: String? = nil, online: Bool = true
    ) async throws -> Firestore {
        let firestore = try local.firestore(cache: .directory(path ?? folder.path))
        if !online { await firestore.disableNetwork() }
        try await firestore.changeUser(to: user)
        return firestore
    }

    /// Returns the numbers of the batches in the order of arrival, with repetitions, and their
    /// count.
    private func arrived() async throws -> (order: [Int], count: Int) {
        let reader = try local.firestore()
        let row = try await reader.document("lists/one").getDocument(source: .server)
        return (row["all"] as? [Int] ?? [], row["count"] as? Int ?? 0)
    }

    @Test(arguments: ["log", "tables", "torn"])
    func `arrive once, in their order`(name: String) async throws {
        let store = try MadeStore.named(name).read()
        let numbers = store.batches.map(\.number)
        let phone = try await phone("ann")
        let moved = try await phone.sendWrites(of: store, user: "ann")
        #expect(moved.queued.map(\.number) == numbers)
        #expect(moved.queuedBefore.isEmpty && moved.unsent.isEmpty)
        #expect(try await phone.writesLeft(in: store).isEmpty)
        try await phone.waitForPendingWrites()
        let arrived = try await arrived()
        #expect(arrived.order == numbers && arrived.count == numbers.count)
        for number in [numbers[0], numbers[numbers.count - 1]] {
            let id = String(repeating: "0", count: 4 - String(number).count) + "\(number)"
            let line = try await phone.document("lists/one/lines/l" + id)
                .getDocument(source: .server)
            #expect(line["text"] as? String == "Line \(number)")
        }
        await local.stop()
    }

    @Test func `are not sent again by a second call, nor after a start`() async throws {
        let store = try MadeStore.named("log").read()
        let first = try await phone("ann")
        try await first.sendWrites(of: store, user: "ann")
        try await first.waitForPendingWrites()
        let again = try await first.sendWrites(of: store, user: "ann")
        #expect(again.queued.isEmpty && again.queuedBefore.count == 4)
        await first.terminate()
        // The second start does not need the list next to the caches.
        try FileManager.default.removeItem(atPath: try list)
        let second = try await phone("ann")
        let later = try await second.sendWrites(of: store, user: "ann")
        #expect(later.queued.isEmpty && later.queuedBefore.count == 4)
        try await second.waitForPendingWrites()
        #expect(try await arrived().order == [2, 3, 4, 5])
        #expect(try await arrived().count == 4)
        await local.stop()
    }

    private var list: String {
        get throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return folder.path + "/" + (try #require(names.first { $0.hasSuffix(".moved") }))
        }
    }

    /// The app is killed after each number of batches. The next start has only the data on the
    /// disk.
    @Test(arguments: 0...4)
    func `survive a kill in between`(taken: Int) async throws {
        let store = try MadeStore.named("log").read()
        let killed = try await phone("ann", online: false)
        for batch in store.batches.prefix(taken) {
            let moved = MovedBatch(
                mutations: batch.mutations, time: batch.time, mark: batch.mark, user: "ann")
            let number: Int64? = try await answer { killed.engine.take(moved, completion: $0) }
            #expect(number != nil)
        }
        let copy = try TemporaryFolder()
        for (name, data) in try files(in: URL(fileURLWithPath: folder.path)) {
            try data.write(to: URL(fileURLWithPath: copy.path).appendingPathComponent(name))
        }
        let next = try await phone("ann", in: copy.path)
        let moved = try await next.sendWrites(of: store, user: "ann")
        #expect(moved.queuedBefore.count == taken && moved.queued.count == 4 - taken)
        try await next.waitForPendingWrites()
        let arrived = try await arrived()
        #expect(arrived.order == [2, 3, 4, 5] && arrived.count == 4)
        await killed.terminate()
        await local.stop()
    }

    @Test func `of two calls at once are queued by one of them`() async throws {
        let store = try MadeStore.named("tables").read()
        let phone = try await phone("ann")
        async let one = phone.sendWrites(of: store, user: "ann")
        async let other = phone.sendWrites(of: store, user: "ann")
        let (first, second) = try await (one, other)
        #expect(first.queued.count + second.queued.count == store.batches.count)
        try await phone.waitForPendingWrites()
        #expect(try await arrived().count == store.batches.count)
        await local.stop()
    }

    @Test func `wait for their user`() async throws {
        let store = try MadeStore.named("users").read()
        let phone = try await phone("ann")
        do throws(FirestoreError) {
            try await phone.sendWrites(of: store, user: "zoë")
            Issue.record("they are not ann's")
        } catch { #expect(error.code == .failedPrecondition) }
        var moved = try await phone.sendWrites(of: store, user: "ann")
        #expect(moved.queued.map(\.number) == [3, 8_200])
        #expect(Set(try await phone.writesLeft(in: store).map(\.user)) == [nil, "bob\0ÿ", "zoë"])
        for (user, numbers) in [("zoë", [70]), ("bob\0ÿ", [4]), (nil, [1])] as [(String?, [Int])] {
            try await phone.waitForPendingWrites()
            try await phone.changeUser(to: user)
            moved = try await phone.sendWrites(of: store, user: user)
            #expect(moved.queued.map(\.number) == numbers)
        }
        try await phone.waitForPendingWrites()
        #expect(try await phone.writesLeft(in: store).isEmpty, "whoever took them")
        #expect(try await arrived().order == [3, 8_200, 70, 4, 1])
        await local.stop()
    }

    @Test func `are told when they cannot be sent, and the others are sent`() async throws {
        let store = try MadeStore.named("unknown").read()
        let phone = try await phone("ann")
        let moved = try await phone.sendWrites(of: store, user: "ann")
        #expect(moved.queued.map(\.number) == [1, 8])
        #expect(moved.unsent.map(\.batch.number) == [2, 3, 4, 5, 6, 7])
        #expect(
            moved.unsent[4].reason.detail
                == "The batch belongs to the database projects/elsewhere/databases/(default).")
        #expect(try await phone.writesLeft(in: store).map(\.number) == [2, 3, 4, 5, 6, 7])
        try await phone.waitForPendingWrites()
        #expect(try await arrived().order == [1, 8])
        await local.stop()
    }

    @Test func `of all kinds do what they say`() async throws {
        let store = try MadeStore.named("kinds").read()
        let admin = try local.firestore()
        for id in ["patch", "delete", "deleteAt"] {
            try await admin.document("kinds/" + id).setData(["gone": 1, "kept": 2])
        }
        try await admin.document("kinds/transforms").setData(["count": 100])
        let phone = try await phone("ann")
        try await phone.sendWrites(of: store, user: "ann")
        try? await phone.waitForPendingWrites()
        func data(_ id: String) async throws -> [String: Any]? {
            try await admin.document("kinds/" + id).getDocument(source: .server).data()
        }
        #expect(try await data("set")?["ü"] as? String == "ß")
        let patched = try #require(try await data("patch"))
        #expect(Set(patched.keys) == ["a", "kept"])
        #expect(try await data("delete") == nil)
        #expect(try await data("make")?["made"] as? Bool == true)
        let transformed = try #require(try await data("transforms"))
        #expect(transformed["count"] as? Int == 2 && transformed["high"] as? Int == 7)
        #expect(transformed["time"] is Timestamp)
        #expect(try await data("old")?["time"] is Timestamp)
        // The precondition names a time at which the document did not change, so the write is
        // refused.
        #expect(try await data("deleteAt") != nil)
        #expect(try await phone.rejectedWrites().count == 1)
        await local.stop()
    }

    @Test func `are not put into memory`() async throws {
        let store = try MadeStore.named("log").read()
        let firestore = try local.firestore()
        do throws(FirestoreError) {
            try await firestore.sendWrites(of: store, user: nil)
            Issue.record("a kill would lose them")
        } catch { #expect(error.code == .failedPrecondition) }
        await local.stop()
    }

    /// Runs the lines of the article `ComingFromFirebaseFirestore`.
    @Test func `are moved as the article does it`() async throws {
        let made = MadeStore.named("log")
        let copy = URL(fileURLWithPath: folder.path).appendingPathComponent("main")
        try FileManager.default.copyItem(at: made.folder, to: copy)
        let firestore = try await phone("ann")
        let userID = "ann"
        let rooms = firestore.collection("rooms")
        func notify(_ batch: FirebaseStore.Batch, _ reason: FirestoreError) {
            Issue.record("\(batch) \(reason)")
        }
        func showFirstScreen() {}
        func moveCache(from folder: URL) async throws {
            let takeOver = try await firestore.takeOver(folder, user: userID, first: [rooms])
            showFirstScreen()
            let outcome = try await takeOver.outcome()
            for unsent in outcome.writes.unsent { notify(unsent.batch, unsent.reason) }
            if outcome.mayRemove { try FirebaseStore.remove(folder) }
        }
        if let folder = FirebaseStore.folder(projectID: "my-app") {
            try await moveCache(from: folder)
        } else {
            try await moveCache(from: copy)
        }
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        try await firestore.waitForPendingWrites()
        #expect(try await arrived().order == [2, 3, 4, 5])
        await local.stop()
    }
}
