public import Tidemark

extension FeedModel {
    /// Returns the position of an item, for a list that opens there again; nil if the item is not
    /// shown.
    public func position(of id: String) -> ListPosition? {
        items.first { $0.id.hasSameBytes(as: id) }?.position
    }

    /// Shows items to a position at which the user left the list; see
    /// ``Feed/loadMore(to:atMost:)``. Returns after the model shows them.
    ///
    /// - Parameters:
    ///   - position: The position; nil does nothing.
    ///   - limit: The maximum number of items.
    /// - Returns: The id of the item to scroll to; nil to begin with the newest.
    public func loadMore(
        to position: ListPosition?, atMost limit: Int = 1_000
    ) async throws(FirestoreError) -> String? {
        guard let position else { return nil }
        let id = try await feed.feed.loadMore(to: position, atMost: limit)
        await untilShown()
        return id
    }
}
