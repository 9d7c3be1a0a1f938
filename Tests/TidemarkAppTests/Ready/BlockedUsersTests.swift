import Testing
import TestSupport
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

@Suite(.timeLimit(.minutes(2))) struct `Blocked users` {
    private func block(_ list: CollectionReference, _ id: String) async throws {
        try await list.document(id).setData([
            "blockedAt": FieldValue.serverTimestamp(), "updatedAt": FieldValue.serverTimestamp(),
        ])
    }

    /// The first sync reads a list of 200 and the users' details once. The second sync reads two
    /// changes and one user's details.
    @Test func `cost their changes, and their details once`() async throws {
        let local = try LocalFirestore.start()
        let author = try local.firestore(label: "author")
        let list = author.collection("users/me/blocked")
        for start in stride(from: 0, to: 200, by: 100) {
            let batch = author.batch()
            for number in start..<start + 100 {
                batch.setData(
                    ["name": "User \(number)"], forDocument: author.document("users/u\(number)"))
                batch.setData(
                    [
                        "blockedAt": FieldValue.serverTimestamp(),
                        "updatedAt": FieldValue.serverTimestamp(),
                    ], forDocument: list.document("u\(number)"))
            }
            try await batch.commit()
        }
        let device = try local.firestore(label: "device")
        func blocked() throws -> BlockedUsers {
            try BlockedUsers(
                device.collection("users/me/blocked"), users: device.collection("users"))
        }
        func reads() -> Int { local.meter().first { $0.label == "device" }?.reads ?? 0 }

        // Changes from the five minutes before a sync are read once more by the next sync.
        local.advance(by: .seconds(600))
        let first = try await blocked().sync()
        #expect(first.entries.count == 200 && first.detailsError == nil)
        #expect(first.entries.allSatisfy { $0.detail?.document?["name"] != nil })
        #expect(reads() == 400)

        local.advance(by: .seconds(3_600))
        try await block(list, "u200")
        try await author.document("users/u200").setData(["name": "User 200"])
        try await list.document("u7").updateData([
            "deletedAt": FieldValue.serverTimestamp(), "updatedAt": FieldValue.serverTimestamp(),
        ])
        let again = try blocked()
        #expect(try await again.open().entries.count == 200)
        let second = try await again.sync()
        #expect(second.entries.count == 200)
        #expect(second.entries.first?.id == "u200")
        #expect(second.entries.first?.detail?.document?["name"] as? String == "User 200")
        #expect(await again.isBlocked("u200"))
        #expect(await !again.isBlocked("u7"))
        // The old app read the list and every user again: 401 reads.
        #expect(reads() - 400 == 3, "two changes and one user's details")
        await local.stop()
    }

    @Test func `are blocked and unblocked offline too, live`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            try await author.document("users/troll").setData(["name": "Troll"])
            let device = try local.firestore(label: "device")
            let list = device.collection("users/me/blocked")
            let blocked = try BlockedUsers(list, users: device.collection("users"))
            await blocked.start()
            func state(
                _ isWanted: (BlockedUsers.State) -> Bool
            ) async -> BlockedUsers.State {
                for await state in blocked.states where isWanted(state) { return state }
                return BlockedUsers.State()
            }
            _ = await state { $0.phase == .empty }
            await device.disableNetwork()
            let receipt = try await blocked.block("troll", fields: ["reason": "spam"])
            let offline = await state { $0.entries.map(\.id) == ["troll"] }
            #expect(offline.entries.first?.document["reason"] as? String == "spam")
            #expect(await blocked.isBlocked("troll"))
            await device.enableNetwork()
            // A feed that failed waits before it listens again.
            local.advance(by: .seconds(120))
            try await receipt.acknowledged()
            try await block(author.collection("users/me/blocked"), "other")
            let both = await state { $0.entries.count == 2 }
            #expect(Set(both.entries.map(\.id)) == ["troll", "other"])
            try await blocked.unblock("troll").acknowledged()
            _ = await state { $0.entries.map(\.id) == ["other"] }
            #expect(await !blocked.isBlocked("troll"))
            // A user who is blocked again has the same entry, without the delete mark.
            try await blocked.block("troll")
            _ = await state { $0.entries.count == 2 }
            await #expect(throws: FirestoreError.self) { try await blocked.block("a/b") }
            await blocked.stop()
        }
    }

    @Test func `are blocked and unblocked offline by an open list`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let device = try local.firestore(label: "device")
            let list = device.collection("users/me/blocked")
            let blocked = try BlockedUsers(list, users: device.collection("users"))
            #expect(try await blocked.sync().entries.isEmpty)
            await device.disableNetwork()
            try await blocked.block("troll", fields: ["reason": "spam"])
            let offline = try await blocked.open()
            #expect(offline.entries.map(\.id) == ["troll"])
            #expect(offline.entries.first?.document["reason"] as? String == "spam")
            #expect(await blocked.isBlocked("troll"))
            try await blocked.unblock("troll")
            #expect(try await blocked.open().entries.isEmpty)
            await #expect(throws: FirestoreError.self) { try await blocked.block("a/b") }
        }
    }

    @Test func `are really deleted where an audit finds it`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let device = try local.firestore(label: "device")
            let list = device.collection("users/me/blocked")
            let blocked = try BlockedUsers(
                list, users: device.collection("users"), way: .audit())
            try await blocked.block("troll").acknowledged()
            #expect(try await blocked.sync().entries.map(\.id) == ["troll"])
            try await blocked.unblock("troll").acknowledged()
            #expect(try await list.getDocuments(source: .server).isEmpty)
            #expect(try await blocked.sync().entries.isEmpty)
        }
    }

    @MainActor @Test func `have a model`() async throws {
        let local = try LocalFirestore.start()
        let device = try local.firestore(label: "device")
        let model = BlockedUsersModel(
            try BlockedUsers(
                device.collection("users/me/blocked"), users: device.collection("users")))
        #expect(model.phase == .loading)
        try await until("the model says that it is empty") { model.phase == .empty }
        try await model.block("troll")
        try await until("the model is fresh") { model.phase == .fresh }
        #expect(model.isBlocked("troll") && model.entries.count == 1)
        try await model.unblock("troll")
        try await until("the troll is not blocked any more") { !model.isBlocked("troll") }
        await local.stop()
    }
}
