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
    ///
    /// - Parameter words: The fields in which searches look for words.
    func context(
        _ database: DatabaseID, _ environment: SyncEnvironment,
        words: [WordIndexDefinition] = []
    ) -> PipelineContext {
        let fields = words.map { (ByteString($0.collectionID), $0.fields) }
        return PipelineContext(
            database: database, now: environment.now(),
            seed: UInt64(environment.random() * 0x1p53),
            searchedFields: Dictionary(fields) { first, _ in first }, isOnDevice: true,
            interruption: { [self] in
                isCancelled.load(ordering: .relaxed)
                    ? PipelineError(.cancelled, "The task was cancelled.") : nil
            })
    }

    /// Runs a pipeline to its end. Called on any thread, which it occupies.
    func rows(
        of plan: SourcePlan, over found: CachedSources, in firestore: Firestore
    ) throws(PipelineError) -> [PipelineResult] {
        let run = plan.pipeline.run(
            over: plan.source(found.documents),
            context: context(firestore.databaseID, firestore.environment, words: found.words))
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
