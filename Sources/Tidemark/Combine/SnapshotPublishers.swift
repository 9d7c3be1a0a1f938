#if canImport(Combine)
    public import Combine

    extension SnapshotSource {
        /// Publishes snapshots, now and after each change, with a separate listener for each
        /// subscriber.
        ///
        /// The cost is that of ``SnapshotSource/snapshots(includeMetadataChanges:)``. A slow
        /// subscriber gets the newest snapshot. The publisher fails with a ``FirestoreError``, and
        /// then no longer listens.
        ///
        /// - Parameter includeMetadataChanges: True to publish a snapshot also if only the metadata
        ///   have changed.
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
