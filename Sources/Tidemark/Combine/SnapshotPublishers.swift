#if canImport(Combine)
    public import Combine

    extension SnapshotSource {
        /// Snapshots, now and as they change, for each subscriber a listener of its own.
        ///
        /// Costs what ``SnapshotSource/snapshots(includeMetadataChanges:)`` costs. A subscriber that asks
        /// slowly gets the newest. Fails with a ``FirestoreError``, and then listens no more.
        ///
        /// - Parameter includeMetadataChanges: Whether there is a snapshot also when only its metadata
        ///   has changed.
        public func snapshotPublisher(
            includeMetadataChanges: Bool = false
        ) -> AnyPublisher<Snapshots.Element, any Error> {
            SequencePublisher { [self] in
                snapshots(includeMetadataChanges: includeMetadataChanges)
            }
            .mapError { $0 as any Error }.eraseToAnyPublisher()
        }
    }
#endif
