import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkModel
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct `Functions of a test` {
    @Test func `are called for changes of documents`() async throws {
        let local = try LocalFirestore.start()
        let phone = try local.firestore(label: "phone")
        let admin = try local.firestore(label: "functions", token: "owner")
        try local.triggers.on(.created("rooms/{room}")) { event in
            let room = event.parameters["room"] ?? ""
            try await admin.document("counts/\(room)").setData(["messages": 0])
        }
        try await phone.document("rooms/blue").setData(["open": true])
        try await local.triggers.waitUntilIdle()
        let count = try await phone.document("counts/blue").getDocument()
        #expect(count["messages"] as? Int == 0)
        await local.stop()
    }

    @Test func `see both versions, in the order of the commits`() async throws {
        let local = try LocalFirestore.start()
        let phone = try local.firestore()
        let seen = Mutex<[String]>([])
        try local.triggers.on(.written("rooms/{room}")) { event in
            func seats(_ document: Document?) -> String {
                if case .integer(let number)? = document?.fields["seats"] {
                    "\(number)"
                } else {
                    "-"
                }
            }
            let line = "\(event.path) \(seats(event.before)) \(seats(event.after))"
            seen.withLock { $0.append(line) }
        }
        let room = phone.document("rooms/blue")
        for seats in 1...5 { try await room.setData(["seats": seats]) }
        try await room.delete()
        try await local.triggers.waitUntilIdle()
        #expect(
            seen.withLock { $0 } == [
                "rooms/blue - 1", "rooms/blue 1 2", "rooms/blue 2 3", "rooms/blue 3 4",
                "rooms/blue 4 5", "rooms/blue 5 -",
            ])
        await local.stop()
    }

    @Test func `that fail are reported to the test, once`() async throws {
        struct Broken: Error {}
        let local = try LocalFirestore.start()
        let phone = try local.firestore()
        try local.triggers.on(.updated("rooms/{room}")) { _ in throw Broken() }
        try await phone.document("rooms/blue").setData(["open": true])
        try await local.triggers.waitUntilIdle()
        try await phone.document("rooms/blue").setData(["open": false])
        let failure = await #expect(throws: RPCStatus.self) {
            try await local.triggers.waitUntilIdle()
        }
        #expect(failure?.message.contains("rooms/blue: Broken") == true)
        try await local.triggers.waitUntilIdle()
        #expect(throws: RPCStatus.self) { try local.triggers.on(.created("rooms")) { _ in } }
        await local.stop()
    }
}
