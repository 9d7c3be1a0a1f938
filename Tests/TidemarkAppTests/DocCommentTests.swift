import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkTesting

// The examples of doc comments and of articles, line by line. The tidy tests compare them.

/// Prints nothing, because the output of the tests shows results only.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `The doc comments' examples` {
    private struct Message: Decodable, Sendable { var text: String }

    /// A list on a screen.
    private final class Rows {
        private(set) var inserted = 0
        func apply(_ diff: FeedDiff<Message>) { inserted += diff.inserted.count }
    }

    private struct Feeds: Sendable {
        func openFromDisk(_ user: UserID?) async -> [String] { ["of the device"] }
    }

    private let place = TestFolder()
    private var folder: String { place.path }

    private func show(_ value: some Any) { print(value) }

    private func world(
        _ body: (LocalFirestore, Firestore) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        do { try await body(local, try local.firestore()) } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    private func addMessages(_ firestore: Firestore, _ count: Int) async throws {
        for number in 0..<count {
            try await firestore.document("rooms/blue/messages/m\(number)").setData([
                "text": "\(number)", "sentAt": Timestamp(seconds: Int64(number), nanoseconds: 0),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
    }

    @Test func `of a typed feed`() async throws {
        try await world { _, firestore in
            try await addMessages(firestore, 3)
            let definition = FeedDefinition.conversation(firestore.document("rooms/blue"))
            let list = Rows()
            let messages = try TypedFeed(of: Message.self, definition)
            try await messages.start()
            for await diff in messages.diffs {
                list.apply(diff)
                if list.inserted == 3 { break }
            }
            await messages.feed.stopListening()
        }
    }

    @Test func `of a push for a pager`() async throws {
        try await world { _, firestore in
            try await addMessages(firestore, 3)
            let pager = try Pager.messages(of: firestore.document("rooms/blue"))
            let newest = try await pager.sync(because: .push)
            #expect(newest.count == 3)
        }
    }

    @Test func `of a push, and of marks as texts`() async throws {
        try await world { _, firestore in
            try await addMessages(firestore, 3)
            let feed = try Feed(.conversation(firestore.document("rooms/blue")))
            let sync = try await feed.sync(because: .push)
            if sync.isCut { print("the rest comes when the feed is opened") }
            #expect(sync.reads == 3)

            var mark = FeedDefinition.SharedMark(
                firestore.document("users/ann/chats/blue"), encoding: .string)
            mark.onClear = [
                "conversation_deleted": .boolean(true), "last_message_timestamp": .mark,
            ]
            var definition = FeedDefinition.conversation(firestore.document("rooms/blue"))
            definition.sharedMark = mark
            let shared = try Feed(definition)
            try await shared.sync()
            try await shared.clear()
            // The write waits in the queue until it is acknowledged.
            for try await snapshot in mark.document.snapshots(includeMetadataChanges: true)
            where snapshot.exists && !snapshot.metadata.hasPendingWrites {
                #expect(snapshot["fetch_message_after"] as? String == "2000")
                #expect(snapshot["last_message_timestamp"] as? String == "2000")
                #expect(snapshot["conversation_deleted"] as? Bool == true)
                break
            }
        }
    }

    @Test func `of a pager`() async throws {
        try await world { _, firestore in
            try await addMessages(firestore, 3)
            var shown: [String] = []
            func show(_ rows: some Sequence<QueryDocumentSnapshot>, isLoading: Bool) {
                shown = rows.map(\.documentID)
            }
            let pager = try Pager(firestore.collection("rooms/blue/messages"), orderedBy: "sentAt")
            for await state in pager.states {
                show(state.chronological, isLoading: state.isLoadingMore)
                if shown.count == 3 { break }
            }
            pager.loadMore()  // from a button, or as the last row appears: never twice at once
            #expect(shown == ["m0", "m1", "m2"])
            pager.close()
        }
    }

    @Test func `of a model of pages`() async throws {
        try await world { _, firestore in
            try await addMessages(firestore, 3)
            var shown: [String] = []
            func show(_ message: Message, isSending: Bool, hasFailed: Bool) {
                if !isSending && !hasFailed { shown.append(message.text) }
            }
            let pager = try Pager.messages(of: firestore.document("rooms/blue"))
            let model = TypedPagerModel<Message>(pager)
            try await until("3 rows are there") { model.rows.count >= 3 }
            for row in model.rows {
                show(row.value, isSending: row.isPending, hasFailed: row.isFailed)
                model.loadMoreIfNeeded(at: row.id)  // as the row appears
            }
            #expect(shown == ["0", "1", "2"])
            pager.close()
        }
    }

    private func send(
        _ id: String, as firestore: Firestore, _ fields: ConversationFields
    ) async throws {
        let chat = firestore.document("chats/\(id)")
        let message: [String: any Sendable] = ["text": "hello"]
        let batch = firestore.batch()
        batch.setData(message, forDocument: chat.collection("messages").document())
        batch.updateData(fields.sending(message, from: "bob", to: ["ann"]), forDocument: chat)
        try await batch.commit()
    }

    @Test func `of a chat list`() async throws {
        try await world { local, firestore in
            let (chat, fields) = (firestore.document("chats/c1"), ConversationFields())
            try await chat.setData([
                "members": ["ann", "bob"], "messageCount": 0,
                "updatedAt": FieldValue.serverTimestamp(),
                "lastMessageAt": FieldValue.serverTimestamp(),
            ])
            var badge = 0
            func show(_ items: [ConversationItem], badge number: Int) { badge = number }
            let list = try ConversationList(
                .chatList(of: "ann", in: firestore.collection("chats")), user: "ann")
            await list.start()
            for await state in list.states where state.phase == .fresh { break }
            try await send("c1", as: local.firestore(label: "bob"), fields)
            for await state in list.states {
                show(state.items, badge: state.unreadTotal)
                if badge == 1 { break }
            }
            try await list.markSeen("c1")
            for await state in list.states where state.unreadTotal == 0 { break }
            await list.stop()
        }
    }

    @Test func `of blocked users and of a search`() async throws {
        try await world { _, firestore in
            try await firestore.document("users/ann").setData(["user_name_lowercase": "änn"])
            let blocked = try BlockedUsers(
                firestore.collection("users/me/blocked"), users: firestore.collection("users"))
            await blocked.start()
            try await blocked.block("troll")  // offline too
            for await state in blocked.states {
                show(state.entries)
                if state.entries.count == 1 { break }
            }
            await blocked.stop()
            let search = try UserSearch(
                firestore.collection("users"), field: "user_name_lowercase"
            ) {
                $0.lowercased()
            }
            let found = try await search.results(for: "ÄN")
            #expect(found.documents.map(\.documentID) == ["ann"])
        }
    }

    @Test func `of normalised text`() async throws {
        try await world { _, firestore in
            let (user, name) = (firestore.document("users/ann"), "Änn  Smith")
            try await user.setData(["name": name, "searchName": SearchText.normalized(name)])
            #expect(try await user.getDocument()["searchName"] as? String == "ann smith")
        }
    }

    @Test func `of a ticker`() {
        let relative = RelativeTime(timeZone: TimeZone(identifier: "UTC")!)
        let sentAt = Ticker.shared.now
        let text = relative.text(for: sentAt, at: Ticker.shared.now)
        #expect(text == "Now")
    }

    @Test func `of a doctor`() async throws {
        try await world { local, _ in
            let settings = FirestoreSettings()
            settings.host = "127.0.0.1:\(try await local.serve().port)"
            settings.isSSLEnabled = false
            let firestore = try Firestore(projectID: "local", settings: settings)
            var count = 0
            if let target = DiagnosisTarget(of: firestore) {
                let report = try await Doctor(target).diagnose(after: .zero)
                show(report.verdict.message)
                count = report.steps.count
            }
            #expect(count > 1)
            await firestore.terminate()
        }
    }

    @Test func `of accounts`() async throws {
        let store = try FileCredentialStore(folder: folder + "/secrets", key: nil)
        let accounts = Accounts(HTTPAccountsTransport(.local("localhost:9099")), store: store)
        let settings = FirestoreSettings(cache: .directory(folder))
        settings.tokenProvider = accounts
        let firestore = try Firestore(projectID: "my-app", settings: settings)
        accounts.attach(firestore)
        await accounts.load()
        guard case .signedOut = accounts.state else {
            Issue.record("\(accounts.state)")
            return
        }
        await firestore.terminate()
    }

    @Test func `of jobs`() async throws {
        try await world { local, firestore in
            let server = try await LocalAccounts.start(beside: local)
            let files = try LaunchFiles(folder: folder)
            let accounts = Accounts(
                HTTPAccountsTransport(.local(server.host)),
                store: try FileCredentialStore(folder: folder + "/secrets", key: nil),
                installation: files.installation)
            let jobs = AccountJobs(accounts, profiles: FirestoreProfiles(firestore), files: files)
            try await jobs.signUp(
                .password(email: "ada@example.com", "correct horse"),
                profile: ["name": .string("Ada")])
            for await news in jobs.news {
                print(news)
                guard case .finished(let user) = news else { continue }
                let profile = try await firestore.document("users/" + user.text).getDocument()
                #expect(profile["name"] as? String == "Ada")
                break
            }
            await server.stop()
        }
    }

    @Test func `of a launch`() async throws {
        var shown: [String] = []
        func showSplash() { shown.append("splash") }
        func showFeed(_ content: [String]?) { shown += content ?? ["skeleton"] }
        func showSignIn() { shown.append("sign in") }
        func showOnboarding(_ step: Int) { shown.append("step \(step)") }
        let feeds = Feeds()
        let parts = LaunchParts(
            changes: AsyncStream { $0.finish() }, news: AsyncStream { $0.finish() })
        let launch = LaunchModel(parts) { user in await feeds.openFromDisk(user) }
        launch.start()
        try await until("the launch has its content") { launch.content != nil }
        switch launch.screen.content {
        case .nothing: showSplash()
        case .local: showFeed(launch.content)
        case .signIn: showSignIn()
        case .onboarding(let step): showOnboarding(step)
        }
        #expect(launch.content == ["of the device"] && shown.count == 1)
    }

    @Test func `of a backfill`() async throws {
        try await world { local, firestore in
            try await addMessages(firestore, 5)
            let source = try QueryHistory(
                firestore.collection("rooms/blue/messages"), itemTime: "sentAt", name: "blue")
            let (sink, end) = (source, Timestamp(seconds: 86_400, nanoseconds: 0))
            let job = BackfillJob(
                name: "blue", from: Timestamp(seconds: 0, nanoseconds: 0), to: end)
            let backfill = Backfill([.init(job, from: source, to: sink)])
            let progress = await backfill.progress
            try await backfill.start()
            for await state in progress {
                show(state.fraction)
                if state.phase == .complete { break }
            }
            let query = firestore.collection("rooms/blue/messages")
            #expect(try await query.getDocuments(source: .cache).count == 5)
        }
    }

    @Test func `of the queue of writes`() async throws {
        try await world { _, firestore in
            for await state in firestore.writeQueueStates {
                print(state.pending, state.oldest as Any, state.rejected)
                break
            }
            try? await firestore.document("rooms/none").updateData(["open": true])
            var refused = 0
            for write in try await firestore.rejectedWrites() {
                print(write.reason.message)
                try await firestore.discardRejectedWrite(write.batch)
                refused += 1
            }
            #expect(refused == 1)
            #expect(try await firestore.rejectedWrites().isEmpty)
        }
    }

    @Test func `of a read`() async throws {
        try await world { _, firestore in
            let room = firestore.document("rooms/blue")
            let snapshot = try await room.getDocument(within: .seconds(2))
            print(snapshot.data() as Any, snapshot.freshness)
            #expect(!snapshot.exists && snapshot.freshness.isFresh)
            print(try await firestore.readMeter.report(days: 1))
            let settings = FirestoreSettings(cache: .memory)
            settings.indexAdvisor = IndexAdvisor(file: "index-needs.json")
            #expect(settings.indexAdvisor?.file == "index-needs.json")
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `The examples of tests` {
    @Test func `count reads`() async throws {
        let firestore = try LocalFirestore.start().firestore()
        try await expectReads(atMost: 1, of: firestore) {
            _ = try await firestore.document("rooms/blue").getDocument()
        }
        await firestore.terminate()
    }

    @Test func `move the clock`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        try await firestore.document("rooms/blue").setData(["open": true])
        local.advance(by: .seconds(3_600))
        await local.stop()
    }

    @Test func `open a port`() async throws {
        let local = try LocalFirestore.start()
        let socket = try await local.serve()
        let settings = FirestoreSettings(host: socket.host, isSSLEnabled: false, cache: .memory)
        let accounts = try await LocalAccounts.start(beside: local)
        // POST http://HOST/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any
        await accounts.stop()
        #expect(settings.host == socket.host && accounts.host != socket.host)
        await local.stop()
    }
}
