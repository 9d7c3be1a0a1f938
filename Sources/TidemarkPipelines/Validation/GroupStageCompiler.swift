import TidemarkModel

extension StageCompiler {
    /// Returns a stage that groups rows; nil if the stage is another one.
    mutating func groupStage(
        _ arguments: StageArguments
    ) throws(PipelineError) -> (any CompiledStage)? {
        switch arguments.stage.name {
        case "distinct":
            try arguments.expect(1...1)
            let stage = DistinctStage(select: try select(arguments, as: "groups"))
            environment.variables = outerVariables
            return stage
        case "aggregate":
            try arguments.expect(1...2)
            let stage = try aggregate(arguments)
            environment.variables = outerVariables
            return stage
        default: return nil
        }
    }

    private func aggregate(_ arguments: StageArguments) throws(PipelineError) -> AggregateStage {
        var figures: [AggregateStage.Figure] = []
        for entry in try arguments.entries(0, as: "accumulators") {
            figures.append(try figure(entry))
        }
        if figures.isEmpty {
            throw .invalid("The aggregate stage requires at least one accumulator")
        }
        var groups: [Alias] = []
        if arguments.stage.arguments.count == 2 {
            groups = try arguments.aliases(1, as: "groups")
        }
        return AggregateStage(figures: figures, groups: groups)
    }

    private func figure(_ entry: Pipeline.Entry) throws(PipelineError) -> AggregateStage.Figure {
        guard case .function(let name, let arguments, _) = entry.value else {
            throw .expected("FUNCTION_VALUE", for: entry.key, but: entry.value)
        }
        guard let function = AggregateFunction(rawValue: name) else {
            throw .invalid("Unknown aggregate function: \(name)")
        }
        guard arguments.count == 1 || arguments.isEmpty && function == .count else {
            throw .invalid(
                "Aggregate function \(name) expects 1 argument, but got \(arguments.count).")
        }
        let argument = try arguments.first.map { first throws(PipelineError) in
            try environment.compile(first)
        }
        return AggregateStage.Figure(
            alias: try environment.alias(entry.key), function: function, argument: argument)
    }

    /// Returns the stage that writes; nil if the stage is another one.
    func writeStage(_ arguments: StageArguments) throws(PipelineError) -> WriteStage? {
        guard let kind = WriteKind(rawValue: arguments.stage.name) else { return nil }
        let options: Set<String> =
            kind == .insert || kind == .upsert ? ["collection", "document_id"] : []
        try arguments.expect(0...(kind == .update || kind == .upsert ? 1 : 0), options: options)
        let transforms =
            arguments.stage.arguments.isEmpty ? [] : try arguments.aliases(0, as: "transforms")
        let collection = try arguments.option("collection").map { option throws(PipelineError) in
            guard case .reference(let text) = option else {
                throw .expected("REFERENCE_VALUE", for: "collection", but: option)
            }
            return try environment.collection(text)
        }
        let id = try arguments.option("document_id").map { option throws(PipelineError) in
            try environment.compile(option)
        }
        return WriteStage(
            kind: kind, transforms: transforms, collection: collection, documentID: id)
    }
}
