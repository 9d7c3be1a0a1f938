import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkServer
import TidemarkTestKit
import TidemarkTesting

/// Tests that pagers and feeds begin with the result that FirebaseFirestore has left on the device.
@Suite(.timeLimit(.minutes(2))) struct `Rows after the update from FirebaseFirestore` {
    private static let project = "pages"
    private static let collection = "rooms/blue/messages"
    private static let pageSize = 20
    private static let day = Duration.seconds(86_400)

    private let local: LocalFirestore
    private let temporary = PhoneFolder()

    init() throws {
        local = try LocalFirestore.start(projectID: Self.project)
    }

    /// Writes messages, each of a later minute than the one before, as of now.
    private func write(_ numbers: ClosedRange<Int>, text: String = "first") async throws {
        let author = try local.firestore(label: "author")
        let batch = author.batch()
        for number in numbers {
            batch.setData(
                [
                    "text": text, "updatedAt": FieldValue.serverTimestamp(),
                    "sentAt": Timestamp(
                        seconds: 1_600_000_000 + 60 * Int64(number), nanoseconds: 0),
                ], forDocument: author.document("\(Self.collection)/m\(1_000 + number)"))
        }
        try await batch.commit()
        await author.terminate()
    }

    /// Leaves a result of a query in FirebaseFirestore's store, as of now.
    ///
    /// - Parameter limit: The number of the newest messages; nil for all.
    private func leaveStore(limit: Int?) async throws -> URL {
        let author = try local.firestore(label: "author")
        var query: Tidemark.Query = author.collection(Self.collection)
            .order(by: "sentAt", descending: true)
        if let limit { query = query.limit(to: limit) }
        let rows = try await query.getDocuments().documents
        var phone = try OldPhone(
            URL(fileURLWithPath: temporary.path + "/main"), project: Self.project)
        phone.leaveTrace(of: "ann")
        let documents = rows.map { row in
            (
                row.reference.path,
                TestMessage.document(
                    phone.root + "/" + row.reference.path,
                    fields: [
                        ("sentAt", .timestamp(row["sentAt"] as? Timestamp ?? .epoch)),
                        ("text", .string("first")),
                        ("updatedAt", .timestamp(row["updatedAt"] as? Timestamp ?? .epoch)),
                    ], updateTime: row.updateTime ?? .epoch)
            )
        }
        phone.put(
            target: TestMessage.query(
                "messages", orders: [("sentAt", true), ("__name__", true)],
                limit: limit.map(Int64.init)),
            parent: "\(phone.root)/rooms/blue", rows: documents.map { $0.0 }, version: local.now,
            token: [1, 2, 3], documents: documents)
        try phone.finish()
        await author.terminate()
        return phone.folder
    }

    /// Opens the new version of the app, with the old store taken over.
    private func takeOver(_ folder: URL) async throws -> Firestore {
        let phone = try local.firestore(
            label: "phone", cache: .directory(temporary.path + "/new"))
        try await phone.changeUser(to: "ann")
        let outcome = try await phone.takeOver(folder, user: "ann").outcome()
        #expect(outcome.refusal == nil && outcome.targets == 1)
        return phone
    }

    /// Scrolls to the end, and returns the rows when `isRight` holds for them.
    private func rows(
        _ phone: Firestore, _ pages: PagesFromDisk, until isRight: ([String: String]) -> Bool
    ) async throws -> [String: String] {
        let pager = try Pager(
            phone.collection(Self.collection), orderedBy: "sentAt", pageSize: Self.pageSize,
            pagesFromDisk: pages)
        defer { pager.close() }
        for await state in pager.states where !state.isFromCache && !state.isLoadingMore {
            if state.hasMore {
                pager.loadMore()
                continue
            }
            let texts = state.items.map { ($0.documentID, $0["text"] as? String ?? "") }
            let rows = Dictionary(texts) { first, _ in first }
            #expect(rows.count == texts.count, "a row is there twice")
            if isRight(rows) { return rows }
        }
        return [:]
    }

    private var reads: Int { local.meter().first { $0.label == "phone" }?.reads ?? 0 }

    private static let keptRight = PagesFromDisk.keptRight(
        changeTime: "updatedAt", deletedField: nil)

    @Test func `cost the newest page and what changed`() async throws {
        try await write(1...200)
        local.advance(by: Self.day)
        let folder = try await leaveStore(limit: nil)
        local.advance(by: Self.day)
        try await write(201...205)
        try await write(31...33, text: "second")
        local.advance(by: .seconds(3_600))
        let phone = try await takeOver(folder)
        let rows = try await rows(phone, Self.keptRight) { rows in
            rows.values.count { $0 == "second" } == 3 && rows.count == 205
        }
        #expect(rows["m1031"] == "second" && rows["m1030"] == "first")
        // The newest page is a listener of its own; the changes are five new messages and three
        // edits. All other messages are on the device.
        #expect(reads == Self.pageSize + 8)
        // The next launch goes on from the pager's own record.
        local.advance(by: Self.day)
        let before = reads
        #expect(try await self.rows(phone, Self.keptRight) { $0.count == 205 }.count == 205)
        #expect(reads - before <= Self.pageSize + 1)
        await phone.terminate()
        await local.stop()
    }

    @Test func `of a feed cost what changed`() async throws {
        try await write(1...200)
        local.advance(by: Self.day)
        let folder = try await leaveStore(limit: nil)
        local.advance(by: Self.day * 30)
        try await write(201...205)
        try await write(31...33, text: "second")
        let phone = try await takeOver(folder)
        let feed = try Feed(
            FeedDefinition(
                query: phone.collection(Self.collection), itemTime: "sentAt",
                way: .changeTime("updatedAt", deletedField: "deletedAt"), window: 300))
        try await feed.sync()
        let texts = await feed.state.items.compactMap { $0.document["text"] as? String }
        #expect(texts.count == 205 && texts.count { $0 == "second" } == 3)
        #expect((8...9).contains(reads), "\(reads)")
        await phone.terminate()
        await local.stop()
    }

    @Test func `are read where the old result ends`() async throws {
        try await write(1...200)
        local.advance(by: Self.day)
        let folder = try await leaveStore(limit: 50)
        local.advance(by: Self.day)
        let phone = try await takeOver(folder)
        _ = try await rows(phone, Self.keptRight) { $0.count == 200 }
        // The last page is full, so the pager may ask once more, and it asks for changes.
        #expect((170...172).contains(reads), "\(reads)")
        await phone.terminate()
        await local.stop()
    }

    @Test(arguments: [true, false])
    func `of unchanging data count while the old result is young enough`(
        isYoung: Bool
    ) async throws {
        try await write(1...100)
        let folder = try await leaveStore(limit: nil)
        local.advance(by: Self.day)
        let phone = try await takeOver(folder)
        _ = try await rows(phone, .youngerThan(isYoung ? Self.day * 2 : Self.day / 2)) {
            $0.count == 100
        }
        #expect(isYoung ? reads == Self.pageSize : reads >= 100, "\(reads)")
        await phone.terminate()
        await local.stop()
    }

    @Test func `without a network are the old ones`() async throws {
        try await write(1...60)
        let folder = try await leaveStore(limit: nil)
        let phone = try local.firestore(
            label: "phone", cache: .directory(temporary.path + "/new"))
        await phone.disableNetwork()
        try await phone.changeUser(to: "ann")
        _ = try await phone.takeOver(folder, user: "ann").outcome()
        let pager = try Pager(
            phone.collection(Self.collection), orderedBy: "sentAt", pageSize: Self.pageSize,
            pagesFromDisk: Self.keptRight)
        for await state in pager.states where !state.isLoadingMore {
            if state.items.count == 60 { break }
            pager.loadMore()
        }
        #expect(pager.current.isFromCache && reads == 0)
        pager.close()
        await phone.terminate()
        await local.stop()
    }
}

/// A folder for the data of a phone, which is removed with this object.
private final class PhoneFolder: Sendable {
    let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("taken-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
