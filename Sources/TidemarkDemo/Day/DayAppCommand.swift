import ArgumentParser
import Foundation
import Tidemark
import TidemarkApp
import TidemarkSystem

/// A chat on a phone, in a process of its own whose use is measured. It runs until it is killed, or
/// until its standard input ends with the demo.
struct DayAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "day-app", abstract: "Show a chat until killed.", shouldDisplay: false)

    private struct Message: Codable, Sendable {
        var text: String
        var sentAt: Timestamp
    }

    @Option var side: Side
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        EndOfInput.raiseSIGTERM()
        let client = try await DeviceClient(side, place.place, label: place.label)
        let messages = client.firestore.collection(DayDemo.messages)
        switch side {
        // The app as it was listens to the whole chat and decodes all of it for each change.
        case .before, .filtered:
            let query = messages.order(by: "sentAt", descending: true)
            // tidemark:ignore unbounded-listener the app as it was
            for try await snapshot in query.snapshots {
                let shown = snapshot.documents.compactMap { try? $0.data(as: Message.self) }
                // The app also shows rows of its cache. The demo waits for rows of the server: a
                // listener without metadata has no snapshot when the server only confirms.
                guard !shown.isEmpty, !snapshot.metadata.isFromCache else { continue }
                say("shown \(snapshot.documents[0].documentID)")
            }
        case .after:
            let feed = try TypedFeed(
                of: Message.self,
                FeedDefinition(
                    query: messages, itemTime: "sentAt",
                    way: .changeTime("updatedAt", deletedField: "deletedAt")))
            try await feed.start()
            for await state in feed.states {
                guard case .fresh = state.phase, let newest = state.items.first else { continue }
                say("shown \(newest.item.document.documentID)")
            }
        }
    }
}
