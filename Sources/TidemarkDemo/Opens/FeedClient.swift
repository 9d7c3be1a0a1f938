import ChatsCore
import Foundation
import Tidemark
import TidemarkApp

/// The activity feed of `Examples/Chats`: it shows the items on disk first, then the changes since
/// the last open.
struct FeedClient: DemoClient {
    let name = "tidemark"
    let place: DemoPlace

    func open() async throws -> ClientOpen {
        let watch = OpenWatch()
        let client = try await DeviceClient(.after, place, label: name)
        let (firstContent, shown) = try await show(client.firestore, watch)
        return ClientOpen(firstContent: firstContent, shown: shown, bytes: await client.close())
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
        return (watch.firstContent, try await activity.show())
    }
}
