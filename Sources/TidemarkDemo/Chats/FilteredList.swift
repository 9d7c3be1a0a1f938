import Tidemark
import TidemarkModel

/// A list filtered by an item's own time, as some of the apps had it. A listener asks for the items
/// newer than the last clear and than the newest item on the device. Older items are shown from
/// disk.
///
/// This list reads little, but it misses items that arrive late, edits and deletes.
struct FilteredList {
    private static let screenful = 50

    /// The query for all items, without an order.
    let items: Tidemark.Query
    /// The field with an item's own time.
    let time: String
    /// The time of the last clear, or the start of the list's window; nil for neither.
    var start: Timestamp?

    /// Opens the list, and returns the items that it shows when the server has answered, the newest
    /// first.
    ///
    /// - Parameter sawContent: Called once or more when something is shown.
    func open(sawContent: () -> Void = {}) async throws -> [QueryDocumentSnapshot] {
        for try await _ in try await live(sawContent: sawContent) { break }
        return try await shown()
    }

    /// Listens to the newer items. The stream has an element for each answer of the server.
    func live(
        sawContent: () -> Void = {}
    ) async throws -> AsyncThrowingStream<Void, any Error> {
        let held = try await newestFirst.limit(to: Self.screenful)
            .getDocuments(source: .cache).documents
        if held.contains(where: isVisible) { sawContent() }
        let floor = [start, held.first.flatMap(itemTime)].compactMap(\.self).max()
        let newer = floor.map { newestFirst.whereField(time, isGreaterThan: $0) } ?? newestFirst
        return AsyncThrowingStream { answers in
            let listening = Task {
                do {
                    // tidemark:ignore unbounded-listener the app with a filter
                    for try await snapshot in newer.snapshots(includeMetadataChanges: true)
                    where !snapshot.metadata.isFromCache { answers.yield() }
                    answers.finish()
                } catch { answers.finish(throwing: error) }
            }
            answers.onTermination = { _ in listening.cancel() }
        }
    }

    /// Returns the items on disk that the user has not cleared.
    func shown() async throws -> [QueryDocumentSnapshot] {
        try await newestFirst.getDocuments(source: .cache).documents.filter(isVisible)
    }

    private var newestFirst: Tidemark.Query { items.order(by: time, descending: true) }

    private func itemTime(_ document: QueryDocumentSnapshot) -> Timestamp? {
        if case .timestamp(let time)? = document.fields?[time] { time } else { nil }
    }

    private func isVisible(_ document: QueryDocumentSnapshot) -> Bool {
        guard let start else { return true }
        return itemTime(document).map { $0 > start } ?? false
    }
}
