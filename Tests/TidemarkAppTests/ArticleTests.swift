import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

// The examples of the articles on pages and on what is ready-made, line by line.

@MainActor @Suite(.timeLimit(.minutes(1))) struct `The articles' examples` {
    private struct Message: Decodable, Sendable { var text: String }
    private struct Settings: Codable, Equatable, Sendable { var theme: String }

    private func world(_ body: (Firestore) async throws -> Void) async throws {
        let local = try LocalFirestore.start()
        do { try await body(try local.firestore()) } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    @Test func `on pages`() async throws {
        try await world { firestore in
            try await firestore.document("rooms/blue/messages/m1").setData([
                "text": "hello", "sentAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
            let pager = try Pager.messages(
                of: firestore.document("rooms/blue"),
                pagesFromDisk: .keptRight(changeTime: "updatedAt", deletedField: "deletedAt"))
            let model = TypedPagerModel<Message>(pager)
            model.loadMore()  // as the oldest row appears: never twice at once
            while model.items.isEmpty || model.hasMore { await Task.yield() }
            #expect(model.items.map(\.text) == ["hello"])
            pager.close()
        }
    }

    @Test func `on what is ready-made`() async throws {
        try await world { firestore in
            try await firestore.document("users/ann").setData([
                "name": "Änn  Smith", "searchName": SearchText.normalized("Änn  Smith"),
            ])
            let search = try UserSearch(firestore.collection("users"))
            let found = try await search.results(for: "ann s")
            #expect(found.documents.count == 1)
            try await firestore.document("settings/me").setData(["theme": "dark"])
            for try await state in firestore.document("settings/me").values(as: Settings.self) {
                guard let value = state.value else { continue }
                #expect(value.theme == "dark")
                break
            }
        }
    }
}
