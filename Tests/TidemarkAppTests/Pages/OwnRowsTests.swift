import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// Tests writes of this device whose times the server has not set yet.
@Suite(.timeLimit(.minutes(2))) struct `One's own rows in a pager` {
    private struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let pages: PagesFromDisk
        let isCleared: Bool
    }

    private static let kinds = [
        Kind(testDescription: "listeners", pages: .never, isCleared: false),
        Kind(testDescription: "listeners and a mark", pages: .never, isCleared: true),
        Kind(
            testDescription: "young pages", pages: .youngerThan(.seconds(3_600)), isCleared: false),
        Kind(
            testDescription: "pages kept right",
            pages: .keptRight(changeTime: "updatedAt", deletedField: "deletedAt"), isCleared: false),
        Kind(
            testDescription: "pages kept right and a mark",
            pages: .keptRight(changeTime: "updatedAt", deletedField: "deletedAt"), isCleared: true),
    ]

    private let begin = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)

    /// Makes the messages m0 to m9, one minute apart, with the newest one minute old. The clear
    /// mark of some kinds hides m0.
    private func world(
        _ kind: Kind, pageSize: Int = 3,
        _ body: (LocalFirestore, Firestore, Pager) async throws -> Void
    ) async throws {
        try await LocalFirestore.start(now: begin).whileRunning { local in
            let author = try local.firestore(label: "author").collection("rooms/blue/messages")
            for number in 0...9 {
                try await author.document("m\(number)").setData(
                    [
                        "sentAt": local.now, "updatedAt": FieldValue.serverTimestamp(),
                        "text": "as it was",
                    ])
                local.advance(by: .seconds(60))
            }
            let device = try local.firestore(label: "device")
            var marks = Marks()
            if kind.isCleared { marks.move(.action, to: begin, serverNow: nil) }
            let pager = try Pager.messages(
                of: device.document("rooms/blue"), pageSize: pageSize, pagesFromDisk: kind.pages,
                marks: marks)
            defer { pager.close() }
            try await body(local, device, pager)
        }
    }

    private func message() -> [String: Any] {
        ["sentAt": FieldValue.serverTimestamp(), "updatedAt": FieldValue.serverTimestamp()]
    }

    /// Returns the ids of the documents in the first state for which `isRight` is true, newest
    /// first.
    @discardableResult
    private func ids(_ pager: Pager, _ isRight: (PagerState) -> Bool) async -> [String] {
        for await state in pager.states where isRight(state) {
            return state.items.map(\.documentID)
        }
        return []
    }

    @Test(arguments: kinds)
    private func `come first at once, and have their place once they have their time`(
        _ kind: Kind
    ) async throws {
        try await world(kind) { local, device, pager in
            let own = device.collection("rooms/blue/messages")
            #expect(await ids(pager) { !$0.isFromCache } == ["m9", "m8", "m7"])
            await device.disableNetwork()
            let receipt = try await own.document("own").enqueueSetData(message())
            #expect(
                await ids(pager) { $0.items.first?.documentID == "own" }.prefix(3)
                    == ["own", "m9", "m8"])
            // A second row of this device sets its own time, ahead of all others, and appears at
            // its place.
            _ = try await own.document("ahead").enqueueSetData([
                "sentAt": local.now.advanced(by: .seconds(3_600)),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
            #expect(
                await ids(pager) { $0.items.count > 1 && $0.items[1].documentID == "ahead" }
                    .prefix(3) == ["own", "ahead", "m9"])
            if kind.pages != .never {
                // A refresh that fails does not move the rows.
                try? await pager.refresh()
                #expect(pager.current.items.first?.documentID == "own")
            }
            await device.enableNetwork()
            local.advance(by: .seconds(120))
            try await receipt.acknowledged()
            #expect(
                await ids(pager) {
                    !$0.items.prefix(3).contains(where: \.metadata.hasPendingWrites)
                        && $0.items.first?.documentID == "ahead"
                }.prefix(3) == ["ahead", "own", "m9"])
        }
    }

    @Test(arguments: kinds)
    private func `fill more than a page`(_ kind: Kind) async throws {
        try await world(kind) { local, device, pager in
            let own = device.collection("rooms/blue/messages")
            await ids(pager) { !$0.isFromCache }
            await device.disableNetwork()
            for number in 1...5 {
                local.advance(by: .seconds(1))
                _ = try await own.document("o\(number)").enqueueSetData(message())
            }
            let all = (1...5).reversed().map { "o\($0)" }
            await ids(pager) { $0.items.first?.documentID == "o5" }
            while pager.current.items.count < 5 {
                pager.loadMore()
                await ids(pager) { !$0.isLoadingMore || $0.error != nil }
            }
            #expect(Array(pager.current.items.map(\.documentID).prefix(5)) == all)
            await device.enableNetwork()
            local.advance(by: .seconds(120))
            try await device.waitForPendingWrites()
            // Rows with their final times are like others, and belong to pages that have to be
            // loaded.
            while true {
                let items = pager.current.items.prefix(6)
                let isSettled = !items.contains(where: \.metadata.hasPendingWrites)
                if isSettled, items.map(\.documentID) == all + ["m9"] { break }
                pager.loadMore()
                await ids(pager) { !$0.isLoadingMore || $0.error != nil }
            }
            #expect(Set(pager.current.items.map(\.documentID)).count == pager.current.items.count)
        }
    }

    @Test(arguments: kinds.filter { $0.pages != .never })
    private func `look as they were written in pages from disk`(_ kind: Kind) async throws {
        try await world(kind) { local, device, pager in
            let own = device.collection("rooms/blue/messages")
            await ids(pager) { !$0.isFromCache }
            pager.loadMore()
            await ids(pager) { $0.items.count == 6 && !$0.isLoadingMore }
            let reads = local.reads(of: "device")
            try await own.document("m5").updateData([
                "text": "edited", "updatedAt": FieldValue.serverTimestamp(),
            ])
            await ids(pager) { $0.items[4]["text"] as? String == "edited" }
            try await own.document("m6").delete()
            await ids(pager) { $0.items.map(\.documentID) == ["m9", "m8", "m7", "m5", "m4"] }
            #expect(local.reads(of: "device") == reads, "it is not asked for")
        }
    }
}
