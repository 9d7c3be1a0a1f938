import Foundation
import Tidemark

/// The two timestamps on the item's own time: asks only for items above the newest one it has shown.
///
/// It is cheap, and it loses what arrives late, what is edited and what is deleted: that is why it is
/// here.
struct PlainClient: DemoClient {
    let name = "plain"
    let place: DemoPlace
    /// When the user last cleared the feed. Nobody does in the demo.
    private let action: Timestamp? = nil

    init(place: DemoPlace) { self.place = place }

    func open() async throws -> ClientOpen {
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

    /// The newest item the user has consumed.
    private func consumption() throws -> Timestamp? {
        guard let data = FileManager.default.contents(atPath: markFile.path) else { return nil }
        return Int64(String(decoding: data, as: UTF8.self)).map(Timestamp.init(microseconds:))
    }
}
