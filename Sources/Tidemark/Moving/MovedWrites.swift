/// What became of the writes of one user that FirebaseFirestore had not sent.
public struct MovedWrites: Sendable {
    /// A batch that cannot be sent. It stays in its store.
    public struct Unsent: Sendable {
        public let batch: FirebaseStore.Batch
        /// Why: ``FirestoreError/detail`` names the write.
        public let reason: FirestoreError
    }

    /// Those that the call has put into the queue, in order. They are durable there.
    public internal(set) var queued: [FirebaseStore.Batch] = []
    /// Those that were put there before, sent or not.
    public internal(set) var queuedBefore: [FirebaseStore.Batch] = []
    /// Those that cannot be sent.
    public internal(set) var unsent: [Unsent] = []
}
