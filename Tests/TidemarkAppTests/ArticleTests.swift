import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

// The examples of the articles, line by line. The tidy tests check that a test contains each one.

/// Prints nothing, because the output of the tests shows results only.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `The articles' examples` {
    private struct Message: Decodable, Sendable { var text: String }
    private struct Settings: Codable, Equatable, Sendable { var theme: String }

    private func show(_ settings: Settings?) { print(settings as Any) }

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
            try await until("all items are there") { !model.items.isEmpty && !model.hasMore }
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
                show(state.value)
                guard let value = state.value else { continue }
                #expect(value.theme == "dark")
                break
            }
        }
    }

    @Test func `on history in the background`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let now = local.now.advanced(by: .seconds(60))
        for (day, id) in [1.0, 20, 200, 400].enumerated().map({ ($1, "m\($0)") }) {
            try await firestore.document("rooms/blue/messages/\(id)").setData([
                "sentAt": local.now.advanced(by: .seconds(-day * 86_400))
            ])
        }
        let messages = firestore.collection("rooms/blue/messages")
        let history = try QueryHistory(messages, itemTime: "sentAt", name: "blue")
        let year = BackfillJob(
            name: "blue", from: now.advanced(by: .seconds(-365 * 86_400)), to: now)
        let backfill = Backfill(
            [.init(year, from: history, to: history)],
            budget: BackfillBudget(time: .seconds(25), reads: 5_000))
        let model = BackfillModel(backfill)
        try await backfill.start()
        try await until("the backfill is complete") { model.progress.phase == .complete }
        // The fourth item is older than a year.
        #expect(model.progress.samples == 3 && model.progress.hasFirstWindows)
        await backfill.stop()

        do {
            let history = try QueryHistory(messages, itemTime: "sentAt", name: "again")
            let job = BackfillJob(
                name: "again", from: now.advanced(by: .seconds(-500 * 86_400)), to: now)
            let backfill = Backfill(
                [.init(job, from: history, to: history)], budget: BackfillBudget(reads: 1))
            await backfill.setOnline(false)
            await backfill.setLowPower(true)
            try await backfill.start()
            #expect(await backfill.current.phase == .held(.offline))
            await backfill.setLowPower(false)
            await backfill.setOnline(true)
            let rooms = try await backfill.yielding {
                try await firestore.collection("rooms").getDocuments()
            }
            #expect(rooms.isEmpty)
            try await until("the backfill has used its budget of reads") {
                await backfill.current.phase == .held(.budget(.reads))
            }
            #expect(await backfill.current.reads == 1)
            while await backfill.current.phase != .complete {
                if await backfill.current.phase == .held(.budget(.reads)) {
                    await backfill.renewBudget()
                }
                await Task.yield()
            }
            #expect(await backfill.current.samples == 4)
            await backfill.stop()
        }
        await local.stop()
    }

    @Test func `on coverage`() async throws {
        try await world { firestore in
            try await firestore.document("rooms/blue/messages/m1").setData([
                "text": "hello", "sentAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
            let feed = try Feed(.conversation(firestore.document("rooms/blue")))
            try await feed.open()  // from disk: no reads, no waiting
            for interval in await feed.coverage.intervals { print(interval.asOf) }
            let plan = await feed.plan
            print(plan.kind, plan.prediction.atLeast, plan.reason)
            let sync = try await feed.sync()
            print(sync.reads, sync.changed)
            #expect(plan.kind == .full && sync.changed == 1)
            #expect(await feed.coverage.intervals.count == 1)
            #expect(await feed.unreadCount == 1)
            try await feed.markConsumed()  // all that is shown was seen
            let cleared = try await feed.clear()  // and is not to be seen again
            print(cleared as Any, await feed.unreadCount)
            #expect(await feed.items.isEmpty)
        }
    }

    @Test func `on choosing a way`() async throws {
        try await world { firestore in
            let message = firestore.document("rooms/blue/messages/m1")
            try await message.setData(["sentAt": FieldValue.serverTimestamp()])
            try await message.updateData([
                "text": "Hello!", "updatedAt": FieldValue.serverTimestamp(),
            ])
            try await message.updateData([
                "deletedAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
            let feed = try Feed(
                FeedDefinition(
                    query: firestore.collection("rooms/blue/messages"), itemTime: "sentAt",
                    way: .changeTime("updatedAt", deletedField: "deletedAt")))
            var checked = FeedDefinition(
                query: firestore.collection("rooms/blue/messages"), itemTime: "sentAt",
                way: .changeTime("updatedAt", deletedField: "deletedAt"))
            checked.checksMembership = true
            let audited = FeedDefinition(
                query: firestore.collection("posts"), itemTime: "createdAt",
                way: .audit(version: "version"))
            let log = FeedDefinition(
                query: firestore.collection("measurements"), itemTime: "takenAt", way: .itemTime)
            var long = FeedDefinition.conversation(firestore.document("rooms/blue"))
            long.limit = 200
            let chat = try Feed(long)
            try await chat.sync()  // a new phone: 200 reads at the most
            try await chat.loadMore(50)  // from the device, and below the 200 from the server
            for other in [checked, audited, log] {
                #expect(try await Feed(other).sync().reads >= 1)
            }
            try await feed.open()
            let prediction = await feed.plan.prediction
            print(prediction.atLeast, prediction.atMost as Any, prediction.ifUnchanged as Any)
            #expect(prediction.allows(try await feed.sync().reads))
            #expect(await feed.items.isEmpty)
        }
    }

    @Test func `on what an app reads`() async throws {
        try await world { firestore in
            try await ReadTag.with(label: "inbox", screen: "Inbox") {
                _ = try await firestore.collection("rooms").getDocuments()
            }
            let today = try await firestore.readMeter.report(days: 1)
            print(today)
            print(ReadPrices.table["nam5"]!.estimate(today, devices: 10_000))
            firestore.readMeter.setBudgets([
                ReadBudget(.screen("Explore"), readsPerDay: 5_000, .degradeToCache),
                ReadBudget(.all, readsPerDay: 50_000, .refuse),
            ])
            try await expectReads(atMost: 1, of: firestore) {
                _ = try await firestore.document("rooms/blue").getDocument()
            }
        }
    }
}
