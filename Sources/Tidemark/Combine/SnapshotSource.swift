/// What has snapshots, now and as it changes: a query or a ``DocumentReference``.
public protocol SnapshotSource: Sendable {
    associatedtype Snapshots: AsyncSequence & Sendable where Snapshots.Element: Sendable

    /// Snapshots, the newest only. Each iteration is a listener of its own.
    ///
    /// - Parameter includeMetadataChanges: Whether there is one also when only the metadata changes.
    func snapshots(includeMetadataChanges: Bool) -> Snapshots
}
