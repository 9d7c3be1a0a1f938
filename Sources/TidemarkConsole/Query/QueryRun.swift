import TidemarkModel
import TidemarkServer

/// Runs a query for its page, and predicts production's bill.
struct QueryRun {
    let asked: AskedQuery
    let reader: DataReader
    let place: DataPlace

    /// The maximum number of counted documents for a prediction.
    private static let maxCounted: Int64 = 10_000_000

    func result() async throws(RPCStatus) -> QueryPage.Result {
        let query = asked.query
        let isComputed = !asked.aggregations.isEmpty
        var documents: [Document] = []
        var computed: [QueryPage.Result.Computed] = []
        var metrics: ExplainMetrics?
        if isComputed {
            let reply = try await reader.aggregate(
                asked.aggregations, of: query, in: place.database, at: place.consistency)
            metrics = reply?.explain
            computed = (reply?.values?.entries ?? []).map {
                .init(name: $0.key, value: ValueText($0.value).text)
            }
        } else {
            (documents, metrics) = try await reader.run(
                query, in: place.database, at: place.consistency)
        }
        let execution = metrics?.execution
        let reads = Int(execution?.readOperations ?? 0)
        let (seconds, attoseconds) = (execution?.duration ?? .zero).components
        return QueryPage.Result(
            table: DocumentTable(documents.map { ($0.path, $0) }), computed: computed,
            plan: (metrics?.indexesUsed ?? []).map {
                .init(scope: $0.queryScope, properties: $0.properties)
            },
            missingIndex: missingIndex,
            reads: reads, predictedReads: isComputed ? reads : try await predicted(reads),
            microseconds: seconds * 1_000_000 + attoseconds / 1_000_000_000_000,
            isUnbounded: query.isUnbounded && !isComputed,
            code: QueryCode.Language.allCases.map { QueryCode(asked: asked, language: $0).text })
    }

    /// Returns one read for each matching document and for each document that an offset skips; at
    /// least one.
    private func predicted(_ reads: Int) async throws(RPCStatus) -> Int {
        guard asked.query.findNearest == nil else { return reads }
        var query = asked.query
        let offset = query.offset
        query.offset = 0
        if let limit = query.limit { query.limit = .first(limit.count + offset) }
        query.projection = nil
        let count = try await reader.count(
            query, in: place.database, at: place.consistency, upTo: Self.maxCounted)
        return max(1, Int(count))
    }

    private var missingIndex: String? {
        let requirement = ServerInsight(reader.server).indexRequirement(
            of: asked.query, asked.aggregations, in: place.database)
        guard !requirement.missing.isEmpty else { return nil }
        var file = IndexConfiguration()
        for index in requirement.missing { _ = file.add(index) }
        return String(decoding: file.json, as: UTF8.self)
    }
}
