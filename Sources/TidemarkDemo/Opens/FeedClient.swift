import Foundation
import Tidemark
import TidemarkApp

/// Tidemark's feed: from disk at once, then what has changed since it last asked.
struct FeedClient: DemoClient {
    let name = "tidemark"
    let place: DemoPlace

    func open() async throws -> ClientOpen {
        var watch = OpenWatch()
        let client = try await DeviceClient(.after, place, label: name)
        let feed = try Feed(
            FeedDefinition(
                query: client.firestore.collection(DemoPlace.collection), itemTime: ItemFields.time,
                way: .changeTime(ItemFields.updatedAt, deletedField: ItemFields.deletedAt)))
        if try await !feed.open().isEmpty { watch.sawContent() }
        try await feed.sync()
        // An app shows the window; here all of it is compared with the server.
        let shown = try await feed.loadAll().map(\.document).shownItems
        return ClientOpen(
            firstContent: watch.firstContent, shown: shown, bytes: await client.close())
    }
}
