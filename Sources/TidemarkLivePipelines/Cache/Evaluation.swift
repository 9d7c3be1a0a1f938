import Synchronization
import Tidemark
import TidemarkPipelines

/// A run of a pipeline over collected documents, on a queue of the system and not on the client's
/// own.
final class Evaluation: Sendable {
    /// The maximum size of the rows of an answer, in bytes of Firestore's storage size: 64 MiB, as
    /// on a local server.
    static let maxBytes = 64 << 20

    private let isCancelled = Atomic(false)

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// The surroundings of a run that ends when it is cancelled.
    func context(_ firestore: Firestore) -> PipelineContext {
        PipelineContext(
            database: firestore.databaseID, now: firestore.environment.now(),
            seed: UInt64(firestore.environment.random() * 0x1p53),
            interruption: { [self] in
                isCancelled.load(ordering: .relaxed)
                    ? PipelineError(.cancelled, "The task was cancelled.") : nil
            })
    }

    /// Runs a pipeline to its end. Called on any thread, which it occupies.
    func rows(
        of plan: SourcePlan, over documents: [[ViewDocument]], in firestore: Firestore
    ) throws(PipelineError) -> [PipelineResult] {
        let run = plan.pipeline.run(over: plan.source(documents), context: context(firestore))
        var results: [PipelineResult] = []
        var bytes = 0
        while let row = try run.next() {
            let result = PipelineResult(firestore, row)
            bytes += result.fields.storageSize
            if bytes > Self.maxBytes {
                throw PipelineError(
                    .resourceExhausted,
                    "The pipeline's rows have more than \(Self.maxBytes >> 20) MiB. Add a limit.")
            }
            results.append(result)
        }
        return results
    }
}

extension PipelineResult {
    init(_ firestore: Firestore, _ row: PipelineRow) {
        self.init(
            firestore, path: row.name?.path, fields: row.fields, createTime: row.createTime,
            updateTime: row.updateTime)
    }
}
