public import Observation
import Tidemark
import TidemarkLivePipelines

/// The people who wrote in a chat, with the number of their messages since a time. It counts the
/// messages on this device, so it costs no reads and works offline.
@MainActor @Observable
public final class WritersModel {
    public struct Writer: Decodable, Identifiable, Hashable, Sendable {
        public var author: String
        public var messages: Int
        public var id: String { author }
    }

    /// The busiest first.
    public private(set) var writers: [Writer] = []
    /// The reason why the counts have ended, as a sentence for the user.
    public private(set) var problem: String?
    @ObservationIgnored private var counting: Task<Void, Never>?

    init(_ messages: CollectionReference, since time: Timestamp) {
        let pipeline = messages.pipeline()
            .where(Field("sentAt").greaterThan(time) && Field("deletedAt").isAbsent())
            .aggregate([CountAll().as("messages")], groups: [Field("author")])
            .sort([Field("messages").descending(), Field("author").ascending()])
        counting = Task { [weak self] in
            do {
                for try await snapshot in pipeline.snapshots(source: .cache) {
                    // The loop ends at the first snapshot after the model is released.
                    guard let self else { return }
                    writers = try snapshot.decoded(as: Writer.self)
                }
            } catch {
                self?.problem = (error as? FirestoreError)?.message
            }
        }
    }

    /// Ends the counts.
    public func stop() { counting?.cancel() }
}
