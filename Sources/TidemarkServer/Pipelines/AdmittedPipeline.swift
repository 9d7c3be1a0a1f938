import TidemarkModel
import TidemarkPipelines

/// A pipeline that the server will run: its database has the edition, and it is valid.
struct AdmittedPipeline {
    let request: ExecutePipelineRequest
    let database: DatabaseID
    let valid: ValidatedPipeline
    let explanation: ExplainMode

    /// - Throws: `FAILED_PRECONDITION` for a database of the Standard edition, else
    ///   `INVALID_ARGUMENT`, each with production's text where it is known.
    init(
        _ request: ExecutePipelineRequest, in database: DatabaseID, of edition: DatabaseEdition
    ) throws(RPCStatus) {
        if !edition.hasPipelines { throw .pipelinesNeedEnterprise }
        guard let pipeline = request.pipeline else {
            throw .invalidArgument("Only structured pipelines are supported.")
        }
        self.request = request
        self.database = database
        explanation = try ExplainMode(request.options)
        valid = try Self.valid(pipeline, in: database)
        if request.commitsTransaction {
            switch request.consistency {
            case .transaction, .newTransaction: break
            case .latest, .at:
                throw .invalidArgument(
                    "auto_commit_transaction needs a transaction or a new transaction.")
            }
        }
    }

    private static func valid(
        _ pipeline: Pipeline, in database: DatabaseID
    ) throws(RPCStatus) -> ValidatedPipeline {
        do throws(PipelineError) { return try pipeline.validated(in: database) } catch {
            throw error.status
        }
    }

    /// The meter's name for the pipeline: that of its first source.
    var meterTarget: String {
        guard let first = valid.sources.first else { return "none" }
        switch first {
        case .documents(let paths): return paths.first?.parent.text ?? "none"
        case .subcollection(let path): return "**/" + path
        case .collection, .collectionGroup, .database:
            return first.query?.meterTarget ?? "none"
        }
    }
}

extension ExecutePipelineRequest {
    /// The time or transaction in which the rows are read. A new transaction that the same request
    /// commits needs no id.
    var readConsistency: ReadConsistency {
        guard commitsTransaction, case .newTransaction(let options) = consistency else {
            return consistency
        }
        if case .readOnly(let time?) = options { return .at(time) }
        return .latest
    }

    /// True if the pipeline changes documents: its last stage is one that does.
    var isWrite: Bool {
        guard let last = pipeline?.stages.last else { return false }
        return ["delete", "update", "insert", "upsert"].contains(last.name)
    }

    /// Returns the locks of the pipeline's sources; nil for a pipeline that is refused before it
    /// reads, or is only explained.
    ///
    /// A lock is one query, so several sources lock the whole database.
    func lockedReading(in database: DatabaseID) -> LockedReading? {
        guard
            let admitted = try? AdmittedPipeline(self, in: database, of: .enterprise),
            admitted.explanation != .plan
        else { return nil }
        var reading = LockedReading()
        var queries: [Query] = []
        for source in admitted.valid.sources {
            switch source {
            case .documents(let paths): reading.documents += paths
            case .collection, .collectionGroup, .database, .subcollection:
                queries.append(source.query ?? .everywhere)
            }
        }
        if queries.count == 1 {
            if admitted.valid.sources.count == 1, let filter = admitted.valid.firstScan?.filter {
                queries[0].filter = filter
            }
            reading.query = LockedQuery(queries[0], in: database)
        } else if queries.count > 1 {
            reading.query = LockedQuery(.everywhere, in: database)
        }
        return reading
    }
}

extension PipelineScan.Origin {
    /// The query for all documents of the source; nil for documents by name. A subcollection of
    /// documents that are not known is read in every place.
    var query: Query? {
        switch self {
        case .collection(let path): Query(parent: path.parent, collectionID: path.id)
        case .collectionGroup(let id): Query(collectionID: id, allDescendants: true)
        case .database: .everywhere
        case .documents: nil
        case .subcollection(let path):
            Query(collectionID: CollectionPath(unchecked: path).id, allDescendants: true)
        }
    }
}

extension Query {
    /// Every document of a database.
    static let everywhere = Query(collectionID: nil, allDescendants: true)
}

extension RPCStatus {
    /// The error of production for a database of the Standard edition. The last line and the link
    /// are Tidemark's. Google's own test suites recognize the last line and then skip pipelines.
    static let pipelinesNeedEnterprise = RPCStatus(
        .failedPrecondition,
        """
        Pipeline Operations are only available for Firestore databases in Enterprise edition.

        Please switch to an Enterprise edition database to take advantage of such functionality.

        ExecutePipeline is only allowed on ENTERPRISE mode
        """,
        details: [
            .reason("PIPELINE_REQUIRES_ENTERPRISE_EDITION"),
            .help(
                description: "Firestore editions",
                url: "https://cloud.google.com/firestore/docs/editions-overview"),
        ])
}
