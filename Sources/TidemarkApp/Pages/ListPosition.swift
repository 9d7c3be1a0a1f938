public import Tidemark

/// The row at which a user leaves a list, so that the list can open there again.
///
/// A view keeps the text of the position as it disappears:
///
/// ```swift
/// defaults.set(model.position(of: topRow)?.rawValue, forKey: "blue")
/// ```
///
/// After the next launch, the list has the row again:
///
/// ```swift
/// let left = defaults.string(forKey: "blue").flatMap(ListPosition.init)
/// let row = await model.loadMore(to: left)
/// ```
///
/// The position also has the time of the row, so the list opens at the next older row if the row is
/// gone.
public struct ListPosition: Hashable, Sendable {
    /// The id of the row: the path of its document.
    public let id: String
    /// The time by which the list orders the row.
    public let time: Timestamp

    public init(id: String, time: Timestamp) {
        self.id = id
        self.time = time
    }
}

extension ListPosition: RawRepresentable {
    /// The position as text: the time in seconds and nanoseconds, and the id.
    public var rawValue: String { "\(time.seconds) \(time.nanoseconds) \(id)" }

    /// Returns nil for a text that is not a position.
    public init?(rawValue: String) {
        let parts = rawValue.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let seconds = Int64(parts[0]), let nanoseconds = Int32(parts[1]),
            Timestamp.isValid(seconds: seconds, nanoseconds: nanoseconds), !parts[2].isEmpty
        else { return nil }
        self.init(
            id: String(parts[2]), time: Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    }
}

/// Finds the row of a position in a list that is loaded page by page. The list has no gaps.
struct PositionSearch {
    struct Row: Hashable {
        let id: String
        /// The time of the row; nil if the list is not ordered by a time.
        let time: Timestamp?
    }

    enum Step: Hashable {
        case wait
        case loadMore
        /// The search ends at a row, or nowhere.
        case end(at: String?)
    }

    let position: ListPosition
    /// The number of rows from which no more rows are loaded.
    let limit: Int

    /// - Parameters:
    ///   - rows: The shown rows, newest first.
    ///   - isLoading: True while rows are loading.
    ///   - hasMore: True if there may be older rows.
    ///   - hasFailed: True if the last rows could not be loaded.
    func step(rows: [Row], isLoading: Bool, hasMore: Bool, hasFailed: Bool = false) -> Step {
        if let row = rows.first(where: { $0.id.hasSameBytes(as: position.id) }) {
            return .end(at: row.id)
        }
        // The row is gone: else it would be above the older row.
        if let older = rows.first(where: { row in row.time.map { $0 < position.time } ?? false }) {
            return .end(at: older.id)
        }
        if isLoading { return .wait }
        if !hasMore { return .end(at: rows.last?.id) }
        return hasFailed || rows.count >= limit ? .end(at: nil) : .loadMore
    }
}

extension FeedItem {
    /// The position of the item, for a list that opens there again.
    public var position: ListPosition { ListPosition(id: id, time: time) }
}

extension TypedItem {
    /// The position of the item, for a list that opens there again.
    public var position: ListPosition { item.position }
}

extension Feed {
    /// The number of items that are loaded at a time.
    private static let positionStep = 100

    /// Extends the window to the item of a position, so that a list can open there again. Opens the
    /// feed if that has not happened. The cost is that of ``loadMore(_:)``.
    ///
    /// - Parameters:
    ///   - position: The position at which the user left the list.
    ///   - limit: The maximum number of items in the window. At least the definition's window is
    ///     searched.
    /// - Returns: The id of the item; of the next older item if the item is gone, and of the oldest
    ///   if there is no older one. Nil if the window ends before the position, or has no items.
    /// - Throws: The error of the server or the disk. The shown items stay.
    public func loadMore(
        to position: ListPosition, atMost limit: Int = 1_000
    ) async throws(FirestoreError) -> String? {
        try await open()
        let search = PositionSearch(position: position, limit: limit)
        while true {
            let rows = items.map { PositionSearch.Row(id: $0.id, time: $0.time) }
            switch search.step(rows: rows, isLoading: false, hasMore: state.hasMore) {
            case .end(let id): return id
            case .loadMore, .wait:
                // tidemark:ignore read-in-loop the window is limited
                let count = try await loadMore(min(Self.positionStep, limit - rows.count)).count
                if count <= rows.count { return nil }
            }
        }
    }
}

extension Pager {
    /// Loads pages to the row of a position, so that a list can open there again. Each page costs
    /// as much as with ``loadMore()``.
    ///
    /// - Parameters:
    ///   - position: The position at which the user left the list.
    ///   - limit: The number of rows from which no more pages are loaded.
    /// - Returns: The id of the row; of the next older row if the row is gone, and of the oldest if
    ///   there is no older one. Nil if a page does not arrive, if the loaded rows end before the
    ///   position, if the pager is closed, or if the task is cancelled.
    public func loadMore(to position: ListPosition, atMost limit: Int = 1_000) async -> String? {
        let search = PositionSearch(position: position, limit: limit)
        for await state in states {
            let rows = state.items.map {
                PositionSearch.Row(id: $0.documentPath.text, time: time(of: $0))
            }
            let step = search.step(
                rows: rows, isLoading: state.isLoadingMore, hasMore: state.hasMore,
                hasFailed: state.error != nil)
            switch step {
            case .end(let id): return id
            // tidemark:ignore read-in-loop the number of rows is limited
            case .loadMore: loadMore()
            case .wait: break
            }
        }
        return nil
    }

    /// Returns the time by which a row is ordered; nil if its field is no time.
    func time(of document: QueryDocumentSnapshot) -> Timestamp? {
        if case .timestamp(let time)? = document.fields?[orderField] { time } else { nil }
    }
}
