/// The result of moving a user's writes that FirebaseFirestore had not sent.
public struct MovedWrites: Sendable {
    /// A batch that cannot be sent. The batch stays in its store.
    public struct Unsent: Sendable {
        public let batch: FirebaseStore.Batch
        /// The reason; ``FirestoreError/detail`` names the write.
        public let reason: FirestoreError
    }

    /// The batches that this call has put into the queue, in order. They are durable there.
    public internal(set) var queued: [FirebaseStore.Batch] = []
    /// The batches that were put into the queue earlier, sent or not.
    public internal(set) var queuedBefore: [FirebaseStore.Batch] = []
    /// The batches that cannot be sent.
    public internal(set) var unsent: [Unsent] = []
}
