import Foundation
import Tidemark

/// A client that asks only for items whose own time is after the newest item that it has shown.
///
/// This is cheap, but the client misses late, edited and deleted items. The demo shows this.
struct PlainClient: DemoClient {
    let name = "plain"
    let place: DemoPlace
    /// The time when the user last cleared the feed. The demo never clears it.
    private let action: Timestamp? = nil

    init(place: DemoPlace) { self.place = place }

    func open(ahead: Duration) async throws -> ClientOpen {
        var watch = OpenWatch()
        let firestore = try place.firestore(label: name)
        let items = firestore.collection(DemoPlace.collection)
        let held = items.order(by: DemoPlace.time, descending: true)
        let first = try await held.limit(to: 50).getDocuments(source: .cache)
        if !first.isEmpty { watch.sawContent() }

        let floor = [action, try consumption()].compactMap(\.self).max()
        let newer: Query =
            floor.map { items.whereField(DemoPlace.time, isGreaterThan: $0) } ?? items
        _ = try await newer.getDocuments(source: .server, within: .seconds(60))
        let shown = try await held.getDocuments(source: .cache).documents
        if let newest = shown.first?.fields?[DemoPlace.time], case .timestamp(let time) = newest {
            try Data("\(time.microseconds)".utf8).write(to: markFile, options: .atomic)
        }
        return ClientOpen(
            firstContent: watch.firstContent, shown: shown.shownItems,
            bytes: await firestore.terminateCountingBytes())
    }

    private var markFile: URL { place.folder.appendingPathComponent("consumption-mark") }

    /// Returns the time of the newest item that the client has shown; nil before the first open.
    private func consumption() throws -> Timestamp? {
        guard let data = FileManager.default.contents(atPath: markFile.path) else { return nil }
        return Int64(String(decoding: data, as: UTF8.self)).map(Timestamp.init(microseconds:))
    }
}
