import Synchronization
import Tidemark
import TidemarkPipelines

/// The documents that a pipeline needs on this device. A class, so that a pipeline can keep it.
final class SourcePlan: Sendable {
    let pipeline: ValidatedPipeline
    /// The documents to collect or to listen to, each once. The first are those of the first scan.
    let sources: [CachedSource]
    /// True if the first source is exactly what the first scan asks for: its conditions, its order
    /// and its limit.
    let isSorted: Bool
    /// True if the first source applies the conditions of the first scan.
    let isFiltered: Bool
    /// True if a later scan also reads the documents of the first source.
    private let isFirstShared: Bool
    /// True if the documents of the only source are the rows, unless one of them has a pending
    /// write: its time is estimated, and conditions can see another time than the query saw.
    let isAnswer: Bool
    /// The query whose rows can be given to the pipeline one at a time; nil if the documents must
    /// be collected first.
    let streamedQuery: QueryValue?

    /// - Throws: `invalidArgument` for a pipeline that a server would refuse, or that changes
    ///   documents.
    init(_ value: PipelineValue, in database: DatabaseID) throws(FirestoreError) {
        do throws(PipelineError) {
            pipeline = try value.validated(in: database, isOnDevice: true)
        } catch { throw FirestoreError(error.status) }
        if pipeline.write != nil {
            throw .invalidArgument("A pipeline that changes documents runs on the server alone.")
        }
        var rest = pipeline.sources[...]
        var sources: [CachedSource] = []
        var (isFiltered, isSorted, isAnswer) = (false, false, false)
        if let scan = pipeline.firstScan {
            rest = rest.dropFirst()
            let first = Self.first(scan, isAlone: rest.isEmpty)
            isFiltered = first.appliesHints
            isSorted = first.appliesHints && !scan.orders.isEmpty
            isAnswer = first.appliesHints && pipeline.isFirstScan
            sources.append(first.source)
        }
        let others = rest.map(Self.whole)
        isFirstShared = pipeline.firstScan != nil && others.contains { $0 == sources[0] }
        for source in others where !sources.contains(source) { sources.append(source) }
        self.sources = sources
        (self.isFiltered, self.isSorted, self.isAnswer) = (isFiltered, isSorted, isAnswer)
        streamedQuery = Self.streamedQuery(of: pipeline, sources)
    }

    /// Returns the plan of a pipeline. The pipeline keeps it, and the client that of a small one.
    static func kept(by pipeline: Pipeline) throws(FirestoreError) -> SourcePlan {
        let (firestore, value) = try pipeline.runnable()
        if let plan = pipeline.plan.withLock({ $0 }) as? SourcePlan { return plan }
        let key = PipelinePlans.Key(value)
        if let known = key.flatMap(firestore.plans.plan) as? SourcePlan {
            pipeline.plan.withLock { $0 = known }
            return known
        }
        let plan = try SourcePlan(value, in: firestore.databaseID)
        if let key { firestore.plans.keep(plan, of: key) }
        pipeline.plan.withLock { $0 = plan }
        return plan
    }

    /// Returns the source of the first scan, with the scan's hints where a query can have them.
    ///
    /// - Returns: The source; true if it applies the conditions, the order and the limit.
    private static func first(
        _ scan: PipelineScan, isAlone: Bool
    ) -> (source: CachedSource, appliesHints: Bool) {
        let whole = whole(scan.origin)
        guard case .rows(var query) = whole else { return (whole, false) }
        if !scan.terms.isEmpty { return (.words(query, scan.terms), false) }
        query.filter = scan.filter
        if isAlone {
            query.orders = scan.orders
            query.limit = scan.limit.flatMap { $0 > 0 ? QueryValue.Limit.first($0) : nil }
        }
        // A query has limits that a pipeline has not, for example of the number of alternatives.
        do throws(RPCStatus) { try query.validateWithoutVectors() } catch { return (whole, false) }
        return (.rows(query), isAlone)
    }

    private static func whole(_ origin: PipelineScan.Origin) -> CachedSource {
        switch origin {
        case .collection(let path): .rows(QueryValue(collection: path))
        case .collectionGroup(let id):
            .rows(QueryValue(collectionID: id, allDescendants: true))
        case .database: .rows(QueryValue(collectionID: nil, allDescendants: true))
        case .documents(let paths): .documents(paths)
        case .subcollection(let path):
            // A subcollection of documents that are not known lies in any place.
            .rows(
                QueryValue(
                    collectionID: path.split(separator: "/").last.map { String($0) } ?? path,
                    allDescendants: true))
        }
    }

    private static func streamedQuery(
        of pipeline: ValidatedPipeline, _ sources: [CachedSource]
    ) -> QueryValue? {
        guard StreamedGroups.canRun(pipeline), case .rows(let query)? = sources.first,
            sources.count == 1, query.limit == nil
        else { return nil }
        return query
    }

    /// Returns the rows of the pipeline if they are the documents themselves; otherwise nil.
    func rows(_ found: CachedSources) -> [ViewDocument]? {
        guard isAnswer, !found.haveMore, let documents = found.documents.first,
            !documents.contains(where: \.hasLocalMutations)
        else { return nil }
        return documents
    }

    /// Makes a source of collected documents.
    func source(_ found: CachedSources) -> CollectedSource {
        let all = found.documents.map { $0.map(\.withEstimatedTimes) }
        guard let scan = pipeline.firstScan, let first = all.first else {
            return CollectedSource(all.flatMap { $0 })
        }
        var rest: [DocumentPath: Document] = [:]
        for document in all.dropFirst(isFirstShared ? 0 : 1).joined() {
            rest[document.path] = document
        }
        return CollectedSource(
            Array(rest.values), first: .init(scan, first, isSorted: isSorted && !found.haveMore))
    }
}

extension SourcePlan {
    /// The query of the first source, if it has conditions, an order or a limit; otherwise nil.
    var selectingQuery: QueryValue? {
        guard pipeline.firstScan != nil, case .rows(let query)? = sources.first,
            query.filter != nil || !query.orders.isEmpty || query.limit != nil
        else { return nil }
        return query
    }
}

extension ViewDocument {
    /// True if the server has not set all server timestamps of the document.
    var hasPendingTimes: Bool {
        hasLocalMutations && document.fields.withEstimatedTimes != document.fields
    }

    /// The document, with the device's time in place of each server timestamp that the server has
    /// not set yet. Functions on timestamps then work for pending writes too.
    var withEstimatedTimes: Document {
        guard hasLocalMutations else { return document }
        let fields = document.fields
        let estimated = fields.withEstimatedTimes
        if estimated == fields { return document }
        return Document(
            path: document.path, fields: estimated, createTime: document.createTime,
            updateTime: document.updateTime)
    }
}

extension MapValue {
    fileprivate var withEstimatedTimes: MapValue {
        MapValue(entries.map { ($0.key, $0.value.withEstimatedTime) })
    }
}

extension Value {
    fileprivate var withEstimatedTime: Value {
        switch self {
        case .pendingServerTimestamp(let localWriteTime, _): .timestamp(localWriteTime)
        case .array(let values): .array(values.map(\.withEstimatedTime))
        case .map(let fields): .map(fields.withEstimatedTimes)
        default: self
        }
    }
}
