import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@Suite(.timeLimit(.minutes(5))) struct `Blocked users` {
    private func block(_ list: CollectionReference, _ id: String) async throws {
        try await list.document(id).setData([
            "blockedAt": FieldValue.serverTimestamp(), "updatedAt": FieldValue.serverTimestamp(),
        ])
    }

    /// A list of 200, each read once; then three changes.
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

        // What changed in the five minutes before a sync comes once more with the next one.
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
        // Before: the list and every user, 401 reads.
        #expect(reads() - 400 == 3, "two changes and one user's details")
        await local.stop()
    }
}
