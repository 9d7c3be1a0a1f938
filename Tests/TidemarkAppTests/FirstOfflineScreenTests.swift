import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkTesting

// The lines of the tutorial *Your first offline screen*, in its order. The tidy tests compare them.

@MainActor @Suite(.timeLimit(.minutes(2))) struct `The first offline screen` {
    private let place = TestFolder()
    private var folder: String { place.path }

    struct Message: Codable, Sendable {
        @DocumentID var id: String?
        @ServerTimestamp var sentAt: Timestamp?
        var text: String
    }

    func open(_ folder: String) throws -> Firestore {
        try Firestore(projectID: "my-app", settings: FirestoreSettings(cache: .directory(folder)))
    }

    @MainActor final class Room {
        private(set) var messages: [Message] = []
        private(set) var isCurrent = false

        func follow(_ query: Query) async throws {
            for try await snapshot in query.snapshots(includeMetadataChanges: true) {
                messages = try snapshot.documents.map { try $0.data(as: Message.self) }
                isCurrent = !snapshot.metadata.isFromCache
            }
        }
    }

    @Test func `opens a cache`() async throws {
        let firestore = try open(folder)
        #expect(firestore.databaseID.project == "my-app")
        await firestore.terminate()
    }

    @Test func `shows what was sent`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let room = Room()
        let newest = firestore.collection("rooms/blue/messages")
            .order(by: "sentAt", descending: true).limit(to: 50)
        let following = Task { try await room.follow(newest) }
        let receipt = try await firestore.collection("rooms/blue/messages").document()
            .enqueueSetData(from: Message(text: "hello"))
        let committed = try await receipt.acknowledged()
        try await until("the room has its newest message") {
            room.messages.first?.sentAt != nil && room.isCurrent
        }
        #expect(room.messages.map(\.text) == ["hello"])
        #expect(room.messages[0].sentAt?.seconds == committed.seconds)
        following.cancel()
        await local.stop()
    }

    @Test func `is tested without a network`() async throws {
        let local = try LocalFirestore.start()
        let phone = try local.firestore(label: "phone", cache: .directory(folder))
        await phone.disableNetwork()
        _ = try await phone.document("rooms/blue/messages/m1")
            .enqueueSetData(from: Message(text: "written offline"))
        let offline = try await phone.collection("rooms/blue/messages").getDocuments()
        #expect(offline.count == 1 && !offline.freshness.isFresh)

        await phone.enableNetwork()
        try await phone.waitForPendingWrites()
        let tablet = try local.firestore(label: "tablet")
        let online = try await tablet.collection("rooms/blue/messages").getDocuments()
        #expect(online.count == 1 && online.freshness.isFresh)
        await local.stop()
    }
}
