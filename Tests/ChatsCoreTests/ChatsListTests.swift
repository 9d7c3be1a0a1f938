import ExampleTesting
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkTesting

@testable import ChatsCore

/// A list that is opened seldom, with the collection in which the service writes its entries.
struct SeldomList: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let collection: String
    /// The name of the field with an entry's own time.
    let time: String
    let open: @MainActor @Sendable (ChatsApp) throws -> FeedModel<Entry>

    static let all = [
        SeldomList(
            testDescription: "calls", collection: "users/ada/calls", time: "startedAt",
            open: { try $0.calls() }),
        SeldomList(
            testDescription: "purchases", collection: "users/ada/purchases", time: "purchasedAt",
            open: { try $0.purchases() }),
        SeldomList(
            testDescription: "media", collection: "chats/grace/media", time: "sharedAt",
            open: { try $0.media(of: "grace") }),
        SeldomList(
            testDescription: "activity", collection: "activity/all/posts", time: "createdAt",
            open: { try $0.activity() }),
    ]

    /// Writes the entries of `numbers`, one second apart, the newest about ten minutes old.
    @MainActor func write(_ numbers: Range<Int>, _ world: ChatsWorld) async throws {
        let batch = world.project.firestore.batch()
        let entries = world.project.firestore.collection(collection)
        let end = world.local.now.advanced(by: .seconds(-600))
        for number in numbers {
            let at = end.advanced(by: .seconds(number - numbers.upperBound))
            let fields: [String: any Sendable] = [
                "author": "Grace", "text": "Entry \(number)", time: at,
                "updatedAt": at,
            ]
            batch.setData(fields, forDocument: entries.document("e\(number)"))
        }
        try await batch.commit()
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A list that is opened seldom` {
    private func isFresh(_ list: FeedModel<Entry>) -> Bool {
        if case .fresh = list.phase { true } else { false }
    }

    @Test(arguments: SeldomList.all)
    func `is read once, stands on the device, and then costs what is new`(
        _ place: SeldomList
    ) async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            try await place.write(0..<40, world)
            let first = try world.client()
            var list: FeedModel<Entry>? = try place.open(world.app(first))
            #expect(list?.phase == .loading && list?.items.isEmpty == true)
            try await until { isFresh(list!) }
            #expect(list?.items.map(\.value.id).first == "e39" && list?.items.count == 40)
            list = nil
            await first.terminate()
            world.local.advance(by: .seconds(86_400))
            try await place.write(40..<43, world)

            let second = try world.client()
            await second.disableNetwork()
            let before = world.reads()
            let again = try place.open(world.app(second))
            try await until { again.items.count == 40 }
            guard case .stale(let age?) = again.phase else {
                Issue.record("\(again.phase)")
                return
            }
            #expect(age > .seconds(86_000) && world.reads() == before)
            await second.enableNetwork()
            try await until { isFresh(again) && again.items.count == 43 }
            #expect(
                again.items.prefix(3).map(\.value.text)
                    == (40..<43).reversed().map { "Entry \($0)" })
            // The reads are the new entries, one call, and the listener. In a chat, the rules read
            // the chat too.
            #expect(world.reads() - before <= 3 + 3, "\(world.reads() - before)")
        }
    }

    @Test(arguments: SeldomList.all)
    func `of nobody's is empty, and says so`(_ place: SeldomList) async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let list = try place.open(world.app(world.client()))
            try await until { isFresh(list) }
            #expect(list.items.isEmpty && list.undecodable.isEmpty)
        }
    }

    @Test func `holds the newest of what was shared in a chat`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let media = SeldomList.all[2]
            try await media.write(0..<500, world)
            let list = try media.open(world.app(world.client()))
            try await until { isFresh(list) }
            #expect(world.reads() <= ChatsApp.heldMedia + 6, "\(world.reads())")
            while list.items.count < ChatsApp.heldMedia { try await list.loadMore() }
            #expect(world.reads() <= ChatsApp.heldMedia + 6, "they are held")
            #expect(list.items.first?.value.id == "e499" && list.hasMore)
        }
    }

    @Test func `of a chat of others says why it is not shown`() async throws {
        try await ChatsWorld.run(isRefused: true) { world in
            try await world.project.firestore.document("chats/others").setData(
                from: Chat(members: ["alan", "grace"], title: "Others"))
            let list = try world.app(world.client()).media(of: "others")
            try await until { if case .failed = list.phase { true } else { false } }
            guard case .failed(let error) = list.phase else { return }
            #expect(error.code == .permissionDenied && list.items.isEmpty)
        }
    }

    @Test func `of those who are online shrinks as time goes by`() async throws {
        try await ChatsWorld.run { world in
            let presence = world.project.firestore.collection("presence")
            for (name, ago) in [("grace", 60), ("alan", 3_600), ("barbara", 90_000)] {
                let seen = world.local.now.advanced(by: .seconds(-ago))
                try await presence.document(name).setData(["lastSeen": seen])
            }
            let list = try world.app(world.client()).online()
            #expect(list.phase == .loading)
            try await until { list.phase == .fresh && list.online.count == 1 }
            #expect(list.users.map(\.document.documentID) == ["grace", "alan"])
            world.local.advance(by: .seconds(600))
            try await until {
                world.clock.advance(by: .seconds(30))
                return list.online.isEmpty
            }
            #expect(list.users.count == 2)
        }
    }
}
