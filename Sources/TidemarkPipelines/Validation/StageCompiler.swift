import TidemarkModel

/// Checks the stages of one pipeline and resolves their names.
struct StageCompiler {
    /// The names at the start of the pipeline, which a nested pipeline sees.
    private let outer: Environment
    var environment: Environment
    private let isSubquery: Bool
    /// True for the pipeline of a union, which cannot start below an outer row.
    private let isUnion: Bool
    private(set) var write: WriteStage?
    /// True if the hints of the source say all that the later stages do.
    private(set) var hasCompleteHints = false
    /// The number of first conditions that a source applies exactly.
    private(set) var exactConditions = 0

    init(_ environment: Environment, isSubquery: Bool = false, isUnion: Bool = false) {
        (outer, self.environment) = (environment, environment)
        (self.isSubquery, self.isUnion) = (isSubquery, isUnion)
    }

    /// The variables that an aggregation leaves: those of the rows around the pipeline.
    var outerVariables: [ByteString: Int] { outer.variables }

    mutating func compile(_ pipeline: Pipeline) throws(PipelineError) -> CompiledPipeline {
        if pipeline.stages.isEmpty { throw .invalid("A pipeline needs at least one stage.") }
        let hints = ScanHints(pipeline, environment)
        (hasCompleteHints, exactConditions) = (hints.areComplete, hints.exactConditions)
        var result = CompiledPipeline()
        for (index, stage) in pipeline.stages.enumerated() {
            let arguments = StageArguments(stage: stage, environment: environment)
            if write != nil { throw .invalid("No stage may follow a stage that writes.") }
            let compiled: any CompiledStage
            if index == 0 {
                compiled = try first(arguments, of: pipeline, hints)
            } else {
                compiled = try later(arguments, at: index, of: pipeline, hints)
            }
            result.stages.append(.init(name: stage.name, stage: compiled))
        }
        return result
    }

    private func first(
        _ arguments: StageArguments, of pipeline: Pipeline, _ hints: ScanHints
    ) throws(PipelineError) -> any CompiledStage {
        let name = arguments.stage.name
        if name == "literals" { return try literals(arguments) }
        guard let origin = try origin(arguments) else {
            if isLater(name) {
                throw .invalid("A pipeline cannot start with the stage \(name).")
            }
            throw .invalid("Unknown stage: \(name)")
        }
        environment.findings.sources.append(origin)
        let index = try arguments.option("force_index").map { option throws(PipelineError) in
            try arguments.string(option, as: "force_index")
        }
        return SourceStage(
            scan: hints.scan(of: origin, forceIndex: index),
            late: environment.variables.isEmpty ? nil : LateHints(pipeline, environment))
    }

    /// Returns nil if the stage is no source.
    private func origin(
        _ arguments: StageArguments
    ) throws(PipelineError) -> PipelineScan.Origin? {
        let stage = arguments.stage
        switch stage.name {
        case "collection":
            try arguments.expect(1...1, options: ["force_index"])
            let text = try arguments.referenceText(0, as: "collection")
            return .collection(try environment.collection(text))
        case "collection_group":
            try arguments.expect(2...2, options: ["force_index"])
            let id = try arguments.string(stage.arguments[1], as: "collection id")
            if id.isEmpty || id.utf8.contains(0x2F) {
                throw .invalid("\"\(id)\" is no id of a collection.")
            }
            return .collectionGroup(id)
        case "database":
            try arguments.expect(0...0)
            return .database
        case "documents":
            try arguments.expect(1...Function.many)
            return .documents(try documents(arguments))
        case "subcollection":
            try arguments.expect(1...1)
            if !isSubquery || isUnion {
                throw .invalid(
                    "The stage subcollection is legal only at the start of a nested pipeline.")
            }
            return .subcollection(try arguments.string(stage.arguments[0], as: "path"))
        default: return nil
        }
    }

    private func documents(
        _ arguments: StageArguments
    ) throws(PipelineError) -> [DocumentPath] {
        var paths: [DocumentPath] = []
        for index in arguments.stage.arguments.indices {
            let text = try arguments.referenceText(index, as: "document")
            let reference = try environment.reference(text)
            guard reference.database == environment.database else {
                throw .invalid("\"\(text)\" belongs to another database.")
            }
            paths.append(reference.path)
        }
        if Set(paths).count < paths.count {
            throw .invalid("The stage documents names a document twice.")
        }
        return paths
    }

    private func literals(
        _ arguments: StageArguments
    ) throws(PipelineError) -> any CompiledStage {
        try arguments.expect(1...Function.many)
        for argument in arguments.stage.arguments {
            guard case .map = argument else {
                if case .constant(.map) = argument { continue }
                throw .expected("MAP_VALUE", for: "literals", but: argument)
            }
        }
        return LiteralsStage(rows: try environment.compile(arguments.stage.arguments))
    }

    private mutating func later(
        _ arguments: StageArguments, at index: Int, of pipeline: Pipeline, _ hints: ScanHints
    ) throws(PipelineError) -> any CompiledStage {
        let name = arguments.stage.name
        if let stage = try fieldStage(arguments) { return stage }
        if let stage = try cutStage(arguments, at: index, of: pipeline, hints) { return stage }
        if let stage = try groupStage(arguments) { return stage }
        if name == "search" {
            guard index == 1, pipeline.stages[0].name.hasPrefix("collection") else {
                throw .invalid("The stage search is legal only directly after a collection.")
            }
            return try SearchCompiler(arguments: arguments).compile()
        }
        if name == "union" {
            try arguments.expect(1...1)
            return UnionStage(other: try unionPipeline(try arguments.pipeline(0, as: "other")))
        }
        if let write = try writeStage(arguments) {
            if isSubquery { throw .invalid("A nested pipeline cannot write.") }
            self.write = write
            return PassStage()
        }
        if isSource(name) {
            throw .invalid("The stage \(name) is legal only at the start of a pipeline.")
        }
        throw .invalid("Unknown stage: \(name)")
    }

    private func unionPipeline(_ pipeline: Pipeline) throws(PipelineError) -> CompiledPipeline {
        var inner = outer
        inner.slots = environment.slots
        var compiler = StageCompiler(inner, isSubquery: true, isUnion: true)
        return try compiler.compile(pipeline)
    }

    private func isSource(_ name: String) -> Bool {
        ["collection", "collection_group", "database", "documents", "subcollection", "literals"]
            .contains(name)
    }

    private func isLater(_ name: String) -> Bool {
        [
            "where", "select", "add_fields", "remove_fields", "replace_with", "sort", "offset",
            "limit", "distinct", "aggregate", "unnest", "union", "sample", "find_nearest", "let",
            "search", "delete", "update", "insert", "upsert",
        ].contains(name)
    }
}

/// A stage whose rows are those before it.
struct PassStage: CompiledStage {
    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream { input }
}
