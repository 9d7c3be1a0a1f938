import ArgumentParser
import Foundation
import Tidemark
import TidemarkApp
import TidemarkImages
import TidemarkSystem

/// A chat on a phone, in a process of its own whose use is measured. It runs until it is killed, or
/// until its standard input ends with the demo.
struct DayAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "day-app", abstract: "Show a chat until killed.", shouldDisplay: false)

    struct Message: Codable, Sendable {
        var text: String
        var sentAt: Timestamp
    }

    /// The word of an app that shows no messages.
    static let ready = "ready"

    @Option var version: DayVersion
    @Option(help: "HOST:PORT of the pictures.") var pictures: String
    @Option(help: "The seconds by which the device's clock is ahead.") var ahead: Int64 = 0
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        EndOfInput.raiseSIGTERM()
        if version == .process { return try await rest() }
        let client = try await DeviceClock.$ahead.withValue(.seconds(ahead)) {
            try await DeviceClient(version.side, place.place, label: place.label)
        }
        if version == .before { return try await showAll(client.firestore) }
        guard version.showsMessages else { return try await rest() }
        try await showFeed(client.firestore)
    }

    /// Does nothing until the process is killed.
    private func rest() async throws {
        say("shown \(Self.ready)")
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }

    /// Listens to the whole chat and decodes all of it for each change.
    private func showAll(_ firestore: Firestore) async throws {
        let query = firestore.collection(DayDemo.messages).order(by: "sentAt", descending: true)
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in query.snapshots {
            let shown = snapshot.documents.compactMap { try? $0.data(as: Message.self) }
            // The app also shows rows of its cache. The demo waits for rows of the server: a
            // listener without metadata has no snapshot when the server only confirms.
            guard !shown.isEmpty, !snapshot.metadata.isFromCache else { continue }
            say("shown \(snapshot.documents[0].documentID)")
        }
    }

    private func showFeed(_ firestore: Firestore) async throws {
        var definition = FeedDefinition(
            query: firestore.collection(DayDemo.messages), itemTime: "sentAt",
            way: .changeTime("updatedAt", deletedField: "deletedAt"))
        if version.has(.marks) {
            // Each version is another user, whose marks no other version moves.
            definition.sharedMark = FeedDefinition.SharedMark(
                firestore.document("users/\(version.rawValue)/state/marks"), field: "cleared",
                consumptionField: "seen")
        }
        let feed = try TypedFeed(of: Message.self, definition)
        let screen = try DayPictures(pictures, in: place.place.folder)
        if version.isLive {
            try await feed.start()
        } else {
            try await feed.feed.open()
            try await feed.feed.sync()
        }
        for await state in feed.states {
            guard case .fresh = state.phase, let newest = state.items.first else { continue }
            if version.has(.marks), newest.isUnread {
                try await feed.markConsumed(through: newest.time)
                // The app is killed after it has shown a message, and each launch sends its mark.
                try await firestore.waitForPendingWrites()
            }
            if version.has(.pictures) { try await screen.show(state.items) }
            say("shown \(newest.item.document.documentID)")
        }
    }
}

/// The pictures of the newest messages, which are on the screen.
private struct DayPictures {
    private static let rows = 10
    private static let box = PictureSize(width: 56, height: 56)

    private let address: String
    private let pipeline: ImagePipeline

    /// - Parameters:
    ///   - address: HOST:PORT of the pictures.
    ///   - folder: The app's folder.
    init(_ address: String, in folder: URL) throws {
        self.address = address
        pipeline = try ImagePipeline(folder: folder.appendingPathComponent("pictures"))
    }

    /// Loads the pictures of the first rows, all at once.
    func show(_ items: [TypedItem<DayAppCommand.Message>]) async throws {
        try await withThrowingTaskGroup { group in
            for item in items.prefix(Self.rows) {
                // The message m7 has picture 7.
                let number = item.item.document.documentID.dropFirst()
                guard let url = URL(string: "http://\(address)/day/\(number)") else { continue }
                group.addTask { [pipeline] in
                    _ = try await pipeline.picture(PictureRequest(url, size: Self.box))
                }
            }
            try await group.waitForAll()
        }
    }
}
