import ChatsCore
import Foundation
import Tidemark
import TidemarkApp
import TidemarkModel

/// The activity feed of `Examples/Chats`: it shows the items on disk first, then the changes since
/// the last open.
struct FeedClient: DemoClient {
    let name = "tidemark"
    let place: DemoPlace

    func open(ahead: Duration) async throws -> ClientOpen {
        let watch = OpenWatch()
        let client = try await client(name, ahead: ahead)
        let (firstContent, shown) = try await show(client.firestore, watch)
        return ClientOpen(firstContent: firstContent, shown: shown, bytes: await client.close())
    }

    /// Returns the predicted bill of the next open, from the files of the device.
    ///
    /// - Parameters:
    ///   - changed: The documents that others have changed since the last open.
    ///   - items: The number of the server's documents.
    /// - Returns: The number of reads; nil if the answers have more rows than a page.
    func predictedReads(
        ahead: Duration, changed: Set<DocumentPath>, items: Int
    ) async throws -> Int? {
        let client = try await client("planning", ahead: ahead)
        let feed = try Feed(.activity(client.firestore.collection(DemoPlace.collection)))
        try await feed.open()
        let reads = await feed.readsToListen(changed: changed, items: items)
        await client.close()
        // Only the number of rows matters in the Standard edition.
        let row = ExpectedRow(documentBytes: 0, entryBytes: 0)
        return reads?.reduce(0) { sum, read in
            let rows = Array(repeating: row, count: read.rows)
            return sum + (read.plan.bill(of: rows)?.reads ?? 0)
        }
    }

    private func client(_ label: String, ahead: Duration) async throws -> DeviceClient {
        try await DeviceClock.$ahead.withValue(ahead) {
            try await DeviceClient(.after, place, label: label)
        }
    }

    @MainActor
    private func show(
        _ firestore: Firestore, _ watch: OpenWatch
    ) async throws -> (Duration?, [ShownItem]) {
        var watch = watch
        let activity = try ChatsApp(firestore, me: place.user).activity()
        try await untilShown { activity.phase != .loading }
        if !activity.items.isEmpty { watch.sawContent() }
        try await untilShown { activity.isFresh }
        // Otherwise it depends on the machine whether the listener is billed.
        try await activity.untilLive()
        return (watch.firstContent, try await activity.show())
    }
}
