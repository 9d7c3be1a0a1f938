import Foundation
import Testing
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@testable import Tidemark

// The examples of the README and of Documentation, line by line. The tidy tests compare them.
// The text of the README is between the marks, and the articles show the rest.

/// Prints nothing, because the output of the tests shows results only.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

struct `The README's examples` {
    private let server: FirestoreServer
    private let firestore: Firestore

    init() throws {
        server = try FirestoreServer(.init())
        firestore = try Firestore(
            projectID: "my-app", settings: FirestoreSettings(cache: .memory),
            environment: .live(server))
    }

    private func show(_ documents: [QueryDocumentSnapshot], isFresh: Bool) {
        #expect(documents.map { $0["text"] as? String } == ["hello"])
    }

    @Test(.timeLimit(.minutes(2))) func `read, listen and write`() async throws {
        // README begins
        let messages = firestore.collection("rooms/blue/messages")
        let newest = messages.order(by: "sentAt", descending: true).limit(to: 50)

        let page = try await newest.getDocuments(within: .seconds(2))
        print(page.count, page.freshness)

        let receipt = try await messages.document().enqueueSetData([
            "text": "hello", "sentAt": FieldValue.serverTimestamp(),
        ])
        try await receipt.acknowledged()

        for try await snapshot in newest.snapshots {
            show(snapshot.documents, isFresh: !snapshot.metadata.isFromCache)
            // README ends
            break
        }
        #expect(page.isEmpty && page.freshness.isFresh)
        await firestore.terminate()
    }

    @Test(.timeLimit(.minutes(2))) func `values of types`() async throws {
        let messages = firestore.collection("rooms/blue/messages")
        let newest = messages.order(by: "sentAt", descending: true).limit(to: 50)
        struct Message: Codable {
            @DocumentID var id: String?
            @ServerTimestamp var sentAt: Date?
            var text: String
        }
        try await messages.addDocument(from: Message(text: "hello"))
        let all = try await newest.getDocuments().documents.map { try $0.data(as: Message.self) }
        #expect(all.count == 1 && all[0].text == "hello" && all[0].sentAt != nil)
        #expect(all[0].id?.count == 20)
        await firestore.terminate()
    }

    @Test(.timeLimit(.minutes(2))) func `a feed`() async throws {
        try await firestore.collection("rooms/blue/messages").document("a").setData([
            "sentAt": FieldValue.serverTimestamp(), "updatedAt": FieldValue.serverTimestamp(),
        ])
        let feed = try Feed(
            FeedDefinition(
                query: firestore.collection("rooms/blue/messages"), itemTime: "sentAt",
                way: .changeTime("updatedAt", deletedField: "deletedAt")))
        try await feed.open()
        try await feed.sync()
        try await feed.clear()
        #expect(await feed.items.isEmpty)
        await firestore.terminate()
    }

    @Test(.timeLimit(.minutes(2))) func `test an app`() async throws {
        let local = try LocalFirestore.start()
        let phone = try local.firestore(label: "phone")
        try await phone.document("rooms/blue").setData(["open": true])
        let start = try local.snapshot()

        local.advance(by: .seconds(86_400))
        try await phone.document("rooms/blue").delete()
        #expect(local.meter().first?.deletes == 1)

        try await local.restore(start)
        await local.stop()
    }
}
