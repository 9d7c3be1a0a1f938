/// A source of snapshots, now and after each change: a query or a ``DocumentReference``.
public protocol SnapshotSource: Sendable {
    associatedtype Snapshots: AsyncSequence & Sendable where Snapshots.Element: Sendable

    /// Returns snapshots, and skips all but the newest. Each iteration is a separate listener.
    ///
    /// - Parameter includeMetadataChanges: True to return a snapshot also if only the metadata
    ///   change.
    func snapshots(includeMetadataChanges: Bool) -> Snapshots
}
