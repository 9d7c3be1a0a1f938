import TidemarkModel
import TidemarkPipelines
import TidemarkStore

/// Performs pipelines whose last stage changes documents. All changes are one commit.
struct PipelineWrites {
    let environment: Environment

    /// The parts of the core that the writes use.
    struct Environment {
        let clocks: DatabaseClocks
        let rules: RulesChecks
        let editions: DatabaseEditions
        let randomBits: @Sendable () -> UInt64
        let ticks: @Sendable () -> Duration
    }

    /// - Throws: ``RPCStatus`` with nothing changed; ``LockWait`` if the commit must wait, after
    ///   which the whole pipeline runs again; ``StoreError``.
    func perform(
        _ request: ExecutePipelineRequest, context: CallContext, commits: inout CommitStage
    ) throws -> Reply {
        let database = context.database
        let pipeline = try AdmittedPipeline(
            request, in: database, of: environment.editions.edition(of: database))
        guard let transaction = commits.transaction else {
            throw RPCStatus(.internal, "No transaction is open.")
        }
        let scope = environment.clocks.latestScope(database, transaction)
        try environment.rules.refuseWritingPipeline(context, scope)
        if pipeline.explanation == .plan {
            return .executePipeline(
                ExecutePipelineReply(
                    executionTime: scope.readTime, explanation: try pipeline.plan()))
        }
        let start = environment.ticks()
        let run = pipeline.valid.run(
            over: ScopedPipelineSource(scope: scope),
            context: PipelineContext(
                database: database, now: scope.readTime, seed: environment.randomBits(),
                ticks: pipeline.explanation == .analysis ? environment.ticks : nil,
                interruption: PipelineTurn.limit(environment.ticks)))
        let mutations = try Self.mutations(run)
        let commit = try commits.commit(
            mutations, context, transactionID: try Self.transaction(of: request))
        commits.bill(
            Usage(
                reads: max(1, run.documentsRead), units: BilledUnits(read: run.readUnits)), context,
            on: CollectionPath(unchecked: pipeline.meterTarget))
        let explanation =
            pipeline.explanation == .analysis
            ? try pipeline.analysis(run, rows: 1, duration: environment.ticks() - start) : nil
        let row = PipelineRow.documentsModified(mutations.count)
        return .executePipeline(
            ExecutePipelineReply(
                rows: [ExecutePipelineReply.Row(row)], executionTime: commit.commitTime,
                explanation: explanation))
    }

    /// The maximum number of documents that one pipeline changes: they are in memory together.
    private static let maxWrites = 100_000

    private static func mutations(_ run: PipelineRun) throws(RPCStatus) -> [Mutation] {
        var mutations: [Mutation] = []
        do throws(PipelineError) {
            while let write = try run.nextWrite() {
                mutations.append(Mutation(write))
                if mutations.count > maxWrites {
                    throw PipelineError(
                        .resourceExhausted,
                        "A pipeline can change at most \(maxWrites) documents. Add a limit.")
                }
            }
        } catch { throw error.status }
        return mutations
    }

    /// Returns the open transaction that the request commits; nil for none.
    private static func transaction(
        of request: ExecutePipelineRequest
    ) throws(RPCStatus) -> TransactionID? {
        switch (request.consistency, request.commitsTransaction) {
        case (.latest, _): return nil
        case (.at, _), (.newTransaction(.readOnly), _):
            throw .invalidArgument(
                "A pipeline cannot change documents at a past time or read-only.")
        case (.newTransaction, true): return nil
        case (.transaction(let id), true): return id
        case (.transaction, false), (.newTransaction, false):
            throw .invalidArgument(
                """
                A pipeline that changes documents in a transaction must commit it: set \
                auto_commit_transaction.
                """)
        }
    }
}

extension Mutation {
    fileprivate init(_ write: PipelineWrite) {
        switch write {
        case .delete(let path): self.init(path: path, .delete)
        case .replace(let path, let fields, let mustExist):
            self.init(
                path: path, .set(fields), precondition: mustExist ? .exists(true) : .none)
        case .create(let path, let fields):
            self.init(path: path, .set(fields), precondition: .exists(false))
        }
    }
}
