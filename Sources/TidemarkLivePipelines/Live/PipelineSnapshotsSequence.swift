public import Tidemark

/// A pipeline's rows now and after each change. Each loop is a separate listener; a slow loop skips
/// to the newest snapshot. The sequence ends with an error, or when the task is cancelled.
public struct PipelineSnapshotsSequence: AsyncSequence, Sendable {
    public typealias Element = Pipeline.Snapshot
    public typealias Failure = FirestoreError

    let pipeline: Pipeline
    let options: SnapshotListenOptions

    public struct AsyncIterator: AsyncIteratorProtocol {
        var results: AsyncStream<Result<Pipeline.Snapshot, FirestoreError>>.Iterator

        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(FirestoreError) -> Pipeline.Snapshot? {
            try await results.next(isolation: isolation)?.get()
        }
    }

    /// Starts listening. Leaving the loop drops the iterator and, with it, the listeners.
    public func makeAsyncIterator() -> AsyncIterator {
        let (results, input) = AsyncStream.makeStream(
            of: Result<Pipeline.Snapshot, FirestoreError>.self, bufferingPolicy: .bufferingNewest(1)
        )
        do throws(FirestoreError) {
            let (firestore, value) = try pipeline.runnable()
            let client = LiveClient(firestore, tag: pipeline.tag.inScope)
            let listener = PipelineListener(value, of: client, options: options) { result in
                input.yield(result.map { Pipeline.Snapshot($0, firestore) })
                if case .failure = result { input.finish() }
            }
            input.onTermination = { _ in listener.stop() }
            listener.start()
        } catch {
            input.yield(.failure(error))
            input.finish()
        }
        return AsyncIterator(results: results.makeAsyncIterator())
    }
}

extension Pipeline {
    /// The rows now and after each change of the documents that the pipeline reads, also offline
    /// and on databases of every edition. Pending writes are included.
    ///
    /// The client listens to the collections, with the conditions, orders and limits that stand
    /// directly behind the first of them. Collections of unions and subqueries are listened to as a
    /// whole. Costs the reads of these listeners: one for each document that the server sends.
    ///
    /// A server timestamp that the server has not set yet is the device's time in every stage. A
    /// limit directly behind the first collection then has rows of the cache, and lacks rows that
    /// the device does not hold.
    ///
    /// `count`, `countIf`, `countDistinct`, `sum`, `average`, `minimum` and `maximum` by group are
    /// maintained by difference: a change of one document costs the same, whatever the number of
    /// documents. Other stages run again over the documents of the listeners, which are in memory.
    /// `CurrentTimestamp` is the time of the last change.
    ///
    /// - Parameters:
    ///   - source: `.cache` never asks the server and costs no reads.
    ///   - includeMetadataChanges: True if a change of ``Pipeline/Snapshot/metadata`` alone creates
    ///     a snapshot.
    public func snapshots(
        source: ListenSource = .default, includeMetadataChanges: Bool = false
    ) -> PipelineSnapshotsSequence {
        PipelineSnapshotsSequence(
            pipeline: self,
            options: SnapshotListenOptions(
                includeMetadataChanges: includeMetadataChanges, source: source))
    }
}
