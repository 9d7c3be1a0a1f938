import TidemarkModel
import TidemarkPipelines
import TidemarkRules

extension AdmittedPipeline {
    /// A filter that every document of the first source passes which the pipeline returns or
    /// computes with. It has the conditions of all `where` stages before the first stage that
    /// changes fields, as in production. Source: pipelines G.
    var provenFilter: Filter? {
        let leading = valid.pipeline.stages.dropFirst().prefix { Self.keepsFields($0.name) }
        let conditions = leading.filter { $0.name == "where" }
        if conditions.count == leading.count { return valid.firstScan?.filter }
        let source = valid.pipeline.stages.prefix(1)
        let provable = try? Pipeline(stages: source + conditions).validated(in: database)
        return provable?.firstScan?.filter
    }

    /// True if the stage only leaves rows out or sorts them.
    private static func keepsFields(_ stage: String) -> Bool {
        ["where", "sort", "limit", "offset", "sample"].contains(stage)
    }

    /// The number of sources and named documents that the rules judge, at least one.
    var judgedOperations: Int {
        max(
            1,
            valid.sources.reduce(0) { total, source in
                if case .documents(let paths) = source { total + paths.count } else { total + 1 }
            })
    }
}

extension RulesGate {
    /// Checks every source of a pipeline: documents by name as `get`, all others as `list`.
    ///
    /// The rules see the conditions of the first source alone. The other sources, of unions and
    /// subqueries, must be allowed as a whole. A subcollection of rows is judged as the group of
    /// its collections.
    mutating func check(_ pipeline: AdmittedPipeline) throws {
        let sources = pipeline.valid.sources
        if sources.isEmpty {
            throw refusal("A pipeline of literals alone reads nothing that the rules allow.")
        }
        for (index, source) in sources.enumerated() {
            if case .documents(let paths) = source {
                for path in paths { try check(get: path) }
                continue
            }
            var query = source.query ?? .everywhere
            if index == 0, pipeline.valid.firstScan?.origin == source {
                query.filter = pipeline.provenFilter
            }
            try check(query)
        }
    }

    /// Refuses a pipeline that changes documents, because rules are about documents that a caller
    /// names.
    func refuseWrites() throws(RPCStatus) {
        throw refusal(
            "While rules are in force, only administrators may change documents by a pipeline.")
    }
}
