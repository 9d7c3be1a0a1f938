import Testing

@testable import TidemarkDemo

struct `The rows of the chat app` {
    private let rows: [any ScenarioRow]

    init() throws {
        let history = try History.generated(count: 3_000, seed: 1, limit: nil)
        rows = ChatsScenarios(history: history, seed: 1).rows
    }

    private func row(_ slug: String) throws -> any ScenarioRow {
        try #require(rows.first { $0.slug == slug })
    }

    @Test func `each have an app with a filter, or say that it does as before`() {
        #expect(rows.allSatisfy { $0.sides.contains(.filtered) != $0.isFilteredAsBefore })
        #expect(
            rows.filter(\.isFilteredAsBefore).map(\.slug)
                == [
                    "long-chat", "unread-by-person", "messages-with-word", "search",
                    "single-documents", "update", "photos",
                ])
        #expect(Set(rows.map(\.slug)).count == rows.count)
    }

    @Test func `are away for longer than a listener resumes, but for one`() throws {
        #expect(rows.filter { $0.away <= Ground.resumable }.map(\.slug) == ["open-again"])
        let again = try row("open-again")
        #expect(again.away == 1_200 && again.news.count == 1 && again.name.hasPrefix("open a chat"))
        #expect(try row("after-a-month").away == 30 * 86_400)
        #expect(rows.filter { !$0.isUsedBefore }.map(\.slug).contains("new-chat"))
    }

    @Test func `are played on all networks, but for photos, which take a minute on 3G`() throws {
        let some = rows.filter { row in !DemoNetwork.allCases.allSatisfy(row.isPlayed) }
        #expect(some.map(\.slug) == ["photos"])
        let photos = try row("photos")
        #expect(DemoNetwork.allCases.filter(photos.isPlayed) == [.threeG])
        #expect(photos.bar.most["bytes per byte of photo"] == 1.1)
        #expect(photos.bar.most["photos lost"] == 0)
    }

    /// The app shares a cleared chat with the user's other devices, which costs a read at every
    /// open.
    @Test func `are of the example as it ships`() throws {
        let open = try row("open-chat")
        #expect(open.bar.reads == 51)
        #expect(open.bar.fewer.map(Bar.percent) == "94.9 %")
    }
}
