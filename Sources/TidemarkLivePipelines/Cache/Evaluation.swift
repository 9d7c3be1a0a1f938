import Synchronization
import Tidemark
import TidemarkPipelines

/// A run of a pipeline over collected documents, on a queue of the system and not on the client's
/// own.
final class Evaluation: Sendable {
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
            over: plan.source(found),
            context: context(firestore.databaseID, firestore.environment, words: found.words))
        var results: [PipelineResult] = []
        var size = AnswerSize()
        while let row = try run.next() {
            try size.add(row.contents.size)
            results.append(PipelineResult(firestore, row))
        }
        return results
    }
}

/// The size of the rows of an answer.
struct AnswerSize {
    /// The maximum size: 64 MiB, as on a local server. Unchanged documents count in bytes of their
    /// encoding, and other rows in bytes of Firestore's storage size, which is about as much.
    static let maxBytes = 64 << 20

    private var bytes = 0

    /// - Throws: `resourceExhausted` beyond ``maxBytes``.
    mutating func add(_ more: Int) throws(PipelineError) {
        bytes += more
        if bytes > Self.maxBytes {
            throw PipelineError(
                .resourceExhausted,
                "The pipeline's rows have more than \(Self.maxBytes >> 20) MiB. Add a limit.")
        }
    }
}

extension PipelineRow.Contents {
    fileprivate var size: Int {
        switch self {
        case .encoded(let fields): fields.bytes.count
        case .decoded(let fields): fields.storageSize
        }
    }
}

extension PipelineResult {
    init(_ firestore: Firestore, _ row: PipelineRow) {
        if case .encoded(let contents) = row.contents, let path = row.name?.path,
            let createTime = row.createTime, let updateTime = row.updateTime
        {
            let document = Document(
                path: path, contents: contents, createTime: createTime, updateTime: updateTime)
            self.init(firestore, document)
            return
        }
        self.init(
            firestore, path: row.name?.path, fields: row.fields, createTime: row.createTime,
            updateTime: row.updateTime)
    }
}
