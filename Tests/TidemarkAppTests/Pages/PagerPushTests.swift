import Testing
import TestSupport
import Tidemark
import TidemarkTesting

@testable import TidemarkApp

/// The newest page of a pager after a push, before a screen shows it.
@Suite(.timeLimit(.minutes(2))) struct `A push for a pager` {
    private func send(_ author: Firestore, _ local: LocalFirestore, _ ids: String...) async throws {
        for id in ids {
            local.advance(by: .seconds(1))
            try await author.document("rooms/blue/messages/\(id)").setData([
                "sentAt": local.now, "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
    }

    private func pager(_ firestore: Firestore, pageSize: Int = 50) throws -> Pager {
        try Pager.messages(
            of: firestore.document("rooms/blue"), pageSize: pageSize,
            pagesFromDisk: .keptRight(changeTime: "updatedAt", deletedField: "deletedAt"))
    }

    private func ids(_ rows: [QueryDocumentSnapshot]) -> [String] { rows.map(\.documentID) }

    /// Returns the reads of a device: those under a label, and all others.
    private func reads(
        _ firestore: Firestore, _ label: String = "push"
    ) async throws -> (counted: Int, others: Int) {
        let report = try await firestore.readMeter.report()
        return (report.reads(label: label), report.reads - report.reads(label: label))
    }

    /// Returns when the server has handled everything that the device has sent on its stream, and
    /// the device everything that the server has sent. Costs two reads.
    private func settle(_ device: Firestore, _ author: Firestore) async throws {
        let bell = author.collection("bells").document()
        try await bell.setData(["rings": 1])
        var rings = device.document(bell.path).snapshots.makeAsyncIterator()
        while let snapshot = try await rings.next() {
            guard let count = snapshot["rings"] as? Int else { continue }
            if count == 2 { return }
            if !snapshot.metadata.isFromCache { try await bell.setData(["rings": 2]) }
        }
    }

    @Test func `reads what is new, under its own label, and opening reads nothing again`()
        async throws
    {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            try await send(author, local, "a", "b", "c")
            let device = try local.firestore(label: "device")
            var pager = try pager(device)
            #expect(try await ids(pager.sync(because: .push)) == ["c", "b", "a"])
            #expect(try await reads(device) == (3, 0))
            #expect(pager.current.items.isEmpty, "the pager does not listen")
            pager.close()

            try await send(author, local, "d")
            try await author.document("rooms/blue/messages/b").updateData([
                "deletedAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
            pager = try self.pager(device)
            let newest = try await pager.sync(because: .push)
            #expect(ids(newest) == ["d", "c", "a"], "without the deleted one")
            let before = try await reads(device)
            #expect(before.counted - 3 <= 2 && before.others == 0, "only the changes")
            for await state in pager.states where !state.isFromCache {
                #expect(ids(state.items) == ["d", "c", "a"])
                break
            }
            let after = try await reads(device)
            #expect(after.others <= 1 && after.counted == before.counted, "nothing is read again")
            pager.close()
        }
    }

    @Test func `reads no more than its reason allows`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            try await send(author, local, "a", "b", "c", "d", "e")
            let device = try local.firestore(label: "device")
            let pager = try pager(device)
            let reason = SyncReason(label: "small", maxReads: 2)
            #expect(try await ids(pager.sync(because: reason)) == ["e", "d"])
            #expect(try await reads(device, "small") == (2, 0))
            for await state in pager.states where !state.isFromCache {
                #expect(ids(state.items) == ["e", "d", "c", "b", "a"], "no row is missing")
                break
            }
            pager.close()
        }
    }

    @Test func `fails without a network, and leaves no listener`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            try await send(author, local, "a")
            let device = try local.firestore(label: "device")
            let pager = try pager(device)
            await device.disableNetwork()
            await #expect(throws: FirestoreError.self) { try await pager.sync(because: .push) }
            await device.enableNetwork()
            try await send(author, local, "b")
            #expect(try await ids(pager.sync(because: .push)) == ["b", "a"])
            try await settle(device, author)
            let before = local.reads(of: "device")
            try await send(author, local, "c")
            try await settle(device, author)
            #expect(local.reads(of: "device") - before == 2, "those of the bell")
            pager.close()
        }
    }
}
