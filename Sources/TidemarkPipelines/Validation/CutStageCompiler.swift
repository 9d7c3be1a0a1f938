import TidemarkModel

extension StageCompiler {
    /// Returns a stage that orders rows or takes some of them; nil if the stage is another one.
    func cutStage(
        _ arguments: StageArguments, at index: Int, of pipeline: Pipeline, _ hints: ScanHints
    ) throws(PipelineError) -> (any CompiledStage)? {
        let stage = arguments.stage
        switch stage.name {
        case "sort":
            try arguments.expect(1...Function.many)
            return SortStage(
                keys: try environment.keys(stage.arguments),
                limit: Self.rowsNeeded(after: index, of: pipeline),
                mayBeSorted: hints.sortIndex == index)
        case "limit", "offset":
            try arguments.expect(1...1)
            let count = try arguments.count(stage.arguments[0], as: stage.name)
            return stage.name == "limit" ? LimitStage(count: count) : OffsetStage(count: count)
        case "sample": return try sample(arguments)
        case "find_nearest": return try findNearest(arguments, at: index, of: pipeline)
        default: return nil
        }
    }

    /// Returns the number of rows that the stages after a sort need; nil for all.
    private static func rowsNeeded(after index: Int, of pipeline: Pipeline) -> Int? {
        var skipped = 0
        for stage in pipeline.stages[(index + 1)...] {
            guard case .constant(.integer(let count))? = stage.arguments.first, count >= 0,
                stage.name == "offset" || stage.name == "limit"
            else { return nil }
            let (sum, overflow) = skipped.addingReportingOverflow(Int(clamping: count))
            if overflow { return nil }
            #if TIDEMARK_DEFECTS
                if PipelineDefect.planted == .sortLosesLastRow { return max(0, sum - 1) }
            #endif
            if stage.name == "limit" { return sum }
            skipped = sum
        }
        return nil
    }

    private func sample(_ arguments: StageArguments) throws(PipelineError) -> any CompiledStage {
        try arguments.expect(2...2)
        environment.findings.isDeterministic = false
        let amount = arguments.stage.arguments[0]
        switch try arguments.string(arguments.stage.arguments[1], as: "mode") {
        case "documents":
            return SampleStage(amount: .documents(try arguments.count(amount, as: "sample")))
        case "percent":
            let fraction: Double
            switch amount {
            case .constant(.double(let number)): fraction = number
            case .constant(.integer(let number)): fraction = Double(number)
            default: throw .expected("DOUBLE_VALUE", for: "sample", but: amount)
            }
            guard (0...1).contains(fraction) else {
                throw .invalid("A sample's percentage must be from 0 to 1.")
            }
            return SampleStage(amount: .fraction(fraction))
        case let mode: throw .invalid("Unknown mode of sample: \(mode)")
        }
    }

    private func findNearest(
        _ arguments: StageArguments, at index: Int, of pipeline: Pipeline
    ) throws(PipelineError) -> any CompiledStage {
        try arguments.expect(3...3, options: ["limit", "distance_field"])
        let values = arguments.stage.arguments
        guard case .constant(.value(.vector(let vector))) = try environment.compile(values[1])
        else {
            throw .invalid("find_nearest expects a vector.")
        }
        guard (1...DocumentLimits.vectorDimensions).contains(vector.array.count) else {
            throw .invalid(
                "A vector must have 1 to \(DocumentLimits.vectorDimensions) dimensions.")
        }
        let limit = try arguments.option("limit").map { option throws(PipelineError) in
            try arguments.count(option, as: "limit")
        }
        let field = try arguments.option("distance_field").map { option throws(PipelineError) in
            try arguments.path(option, as: "distance_field")
        }
        let search = FindNearest(
            field: try arguments.path(values[0], as: "field"), vector: vector.array,
            measure: try measure(try arguments.string(values[2], as: "distance measure")),
            limit: limit ?? .max, distanceField: field)
        let needed = Self.rowsNeeded(after: index, of: pipeline)
        return FindNearestStage(search: search, limit: limit ?? needed)
    }

    private func measure(_ name: String) throws(PipelineError) -> FindNearest.DistanceMeasure {
        switch name {
        case "euclidean": .euclidean
        case "cosine": .cosine
        case "dot_product": .dotProduct
        default: throw .invalid("Unknown distance measure: \(name)")
        }
    }
}
