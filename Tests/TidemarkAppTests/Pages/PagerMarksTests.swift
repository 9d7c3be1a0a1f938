import Testing
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// Tests that cleared rows do not return in a pager.
@Suite(.timeLimit(.minutes(2))) struct `A pager with marks` {
    typealias Machine = PageMachine<Int>

    private func row(_ number: Int) -> PageRow<Int> {
        let time = Timestamp(seconds: Int64(number), nanoseconds: 0)
        return PageRow(
            PagePosition(
                value: .timestamp(time), path: DocumentPath(unchecked: "c/m\(number)")), number)
    }

    private func time(_ number: Int) -> Timestamp {
        Timestamp(seconds: Int64(number), nanoseconds: 0)
    }

    @Test func `hides what is cleared, also in a page that was on its way`() {
        var machine = Machine(pageSize: 2)
        _ = machine.step(.start)
        _ = machine.step(.snapshot(1, [row(9), row(8)], isFromCache: false))
        _ = machine.step(.loadMore)
        #expect(machine.step(.cleared(time(7))).isEmpty)
        _ = machine.step(.snapshot(2, [row(7), row(6)], isFromCache: false))
        #expect(machine.rows.map(\.content) == [9, 8])
        #expect(!machine.hasMore && !machine.isLoadingMore)
        #expect(machine.step(.loadMore).isEmpty, "nothing below the mark is asked for")
        _ = machine.step(.changed([row(5).path: row(5)]))
        _ = machine.step(.cleared(time(3)))
        #expect(machine.rows.map(\.content) == [9, 8], "it only moves forward")
        _ = machine.step(.cleared(time(9)))
        #expect(machine.rows.isEmpty && !machine.hasMore)
        _ = machine.step(.snapshot(1, [row(10), row(9)], isFromCache: false))
        #expect(machine.rows.map(\.content) == [10])
    }

    /// Runs `body` with the messages 1 to 30, whose times are one second apart.
    private func world(
        _ body: (LocalFirestore, Firestore) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let writer = try local.firestore(label: "writer").collection("rooms/blue/messages")
        let batch = writer.firestore.batch()
        for number in 1...30 {
            batch.setData(
                ["sentAt": time(number), "updatedAt": FieldValue.serverTimestamp()],
                forDocument: writer.document("m\(number)"))
        }
        try await batch.commit()
        let reader = try local.firestore(label: "reader")
        do { try await body(local, reader) } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    private func ids(_ pager: Pager, _ isRight: (PagerState) -> Bool) async -> [String] {
        for await state in pager.states where isRight(state) {
            return state.items.map(\.documentID)
        }
        return []
    }

    private static let fromDisk: [PagesFromDisk] = [
        .never, .keptRight(changeTime: "updatedAt", deletedField: nil),
    ]

    @Test(arguments: fromDisk)
    func `reads nothing that was cleared, from disk or server`(pages: PagesFromDisk) async throws {
        try await world { local, reader in
            var marks = Marks()
            marks.move(.action, to: time(20), serverNow: nil)
            let room = reader.document("rooms/blue")
            let pager = try Pager.messages(
                of: room, pageSize: 4, pagesFromDisk: pages, marks: marks)
            #expect(await ids(pager) { !$0.isLoadingMore } == ["m30", "m29", "m28", "m27"])
            for _ in 0..<3 {
                pager.loadMore()
                _ = await ids(pager) { !$0.isLoadingMore }
            }
            let end = await ids(pager) { !$0.hasMore }
            #expect(end == (21...30).reversed().map { "m\($0)" })
            #expect(local.meter().first { $0.label == "reader" }?.reads ?? 0 <= 11)
            marks.move(.action, to: time(28), serverNow: nil)
            pager.setMarks(marks)
            #expect(pager.current.items.map(\.documentID) == ["m30", "m29"])
            #expect(!pager.current.hasMore)
            pager.close()

            // The device is offline, and its cache holds all messages.
            await reader.disableNetwork()
            let again = try Pager.messages(
                of: room, pageSize: 4, pagesFromDisk: pages, marks: marks)
            #expect(await ids(again) { !$0.items.isEmpty } == ["m30", "m29"])
            again.close()
        }
    }

    @Test func `follows a feed's marks`() async throws {
        try await world { _, reader in
            let feed = try Feed(
                FeedDefinition(
                    query: reader.collection("rooms/blue/messages"), itemTime: "sentAt",
                    way: .changeTime("updatedAt", deletedField: nil)))
            try await feed.sync()
            try await feed.clear(through: time(25))
            let pager = try Pager.messages(of: reader.document("rooms/blue"), pageSize: 50)
            try await pager.follow(feed)
            #expect(await ids(pager) { !$0.isLoadingMore }.count == 5)
            try await feed.clear(through: time(29))
            #expect(await ids(pager) { $0.items.count == 1 } == ["m30"])
            pager.close()
        }
    }
}
