import Tidemark
import TidemarkModel

/// The two timestamps on an item's own time, as some of the apps had them: a listener on what is newer than
/// the newest item that the device holds, and than the last clear. What is older is shown from disk.
///
/// It reads little, and never hears of an item that arrives late, of an edit, or of a delete.
struct FilteredList {
    private static let screenful = 50

    /// All of the list, in no order.
    let items: Tidemark.Query
    /// The field of an item's own time.
    let time: String
    /// Where the person has cleared it, or where its window begins; nil for no such place.
    var start: Timestamp?

    /// Opens it, and returns what it shows when the server has answered: the newest first.
    ///
    /// - Parameter sawContent: Called as soon as something is shown, once or more.
    func open(sawContent: () -> Void = {}) async throws -> [QueryDocumentSnapshot] {
        for try await _ in try await live(sawContent: sawContent) { break }
        return try await shown()
    }

    /// A listener on what is newer: its answers since the server's first.
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

    /// From disk, without what was cleared.
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
