import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// Tests writes of this device whose times the server has not set yet.
@Suite(.timeLimit(.minutes(2))) struct `One's own items in a feed` {
    private struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let way: FeedDefinition.Way
    }

    private static let ways = [
        Way(testDescription: "change time", way: .changeTime("updatedAt", deletedField: nil)),
        Way(testDescription: "item time", way: .itemTime),
        Way(testDescription: "audit", way: .audit()),
    ]

    private func feed(
        _ device: Firestore, _ way: FeedDefinition.Way, limit: Int? = nil
    ) throws -> Feed {
        var definition = FeedDefinition(
            query: device.collection("rooms/blue/messages"), itemTime: "sentAt", way: way)
        definition.limit = limit
        return try Feed(definition)
    }

    private func message() -> [String: Any] {
        ["sentAt": FieldValue.serverTimestamp(), "updatedAt": FieldValue.serverTimestamp()]
    }

    /// Returns the ids of the documents in the first state for which `isRight` is true, newest
    /// first.
    @discardableResult
    private func ids(_ feed: Feed, _ isRight: (FeedState) -> Bool) async -> [String] {
        for await state in feed.states where isRight(state) {
            return state.items.map(\.document.documentID)
        }
        return []
    }

    private func isSettled(_ state: FeedState) -> Bool {
        if case .fresh = state.phase {
            !state.items.contains(where: \.hasPendingWrites)
        } else {
            false
        }
    }

    @Test(arguments: ways)
    private func `are shown at once, live, and move to their place`(_ way: Way) async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author").collection("rooms/blue/messages")
            let device = try local.firestore(label: "device")
            let own = device.collection("rooms/blue/messages")
            try await author.document("first").setData(message())
            local.advance(by: .seconds(600))
            let feed = try feed(device, way.way)
            try await feed.open()
            await feed.startListening()
            #expect(await ids(feed, isSettled) == ["first"])

            await device.disableNetwork()
            let receipt = try await own.document("own").enqueueSetData(message())
            #expect(await ids(feed) { $0.items.count == 2 } == ["own", "first"])
            #expect(await feed.items.first?.hasPendingWrites == true)
            // The other author's message reaches the server first.
            local.advance(by: .seconds(10))
            try await author.document("other").setData(message())
            local.advance(by: .seconds(10))
            await device.enableNetwork()
            local.advance(by: .seconds(120))
            try await receipt.acknowledged()
            #expect(
                await ids(feed) { isSettled($0) && $0.items.count == 3 }
                    == ["own", "other", "first"])

            // An own item is also shown while the device is connected, and a refused write
            // disappears. The time moves on first, because at equal times the ids decide the order.
            local.advance(by: .seconds(1))
            try await own.document("next").setData(message())
            #expect(await ids(feed) { $0.items.count == 4 }.first == "next")
            let batch = device.batch()
            batch.setData(message(), forDocument: own.document("bad"))
            batch.updateData(["count": 1], forDocument: device.document("rooms/none"))
            batch.commit { _ in }
            try await until("a write is rejected") { try await !device.rejectedWrites().isEmpty }
            await ids(feed) { state in !state.items.contains { $0.document.documentID == "bad" } }
            await feed.stopListening()
        }
    }

    @Test(arguments: [nil, 10])
    private func `are read from disk above a clear mark`(_ limit: Int?) async throws {
        try await LocalFirestore.start().whileRunning { local in
            let device = try local.firestore(label: "device")
            let own = device.collection("rooms/blue/messages")
            try await own.document("old").setData(message())
            local.advance(by: .seconds(600))
            let feed = try feed(
                device, .changeTime("updatedAt", deletedField: nil), limit: limit)
            try await feed.sync()
            try await feed.clear()
            await device.disableNetwork()
            _ = try await own.document("a").enqueueSetData(message())
            // A text is not a time, so this item has no place above the mark.
            _ = try await own.document("text").enqueueSetData(["sentAt": "noon"])
            try await feed.open()
            #expect(await feed.items.map(\.document.documentID) == ["a"])
        }
    }
}
