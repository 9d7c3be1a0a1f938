import TidemarkModel

extension StageCompiler {
    /// Returns a stage that changes rows one by one; nil if the stage is another one.
    mutating func fieldStage(
        _ arguments: StageArguments
    ) throws(PipelineError) -> (any CompiledStage)? {
        let stage = arguments.stage
        switch stage.name {
        case "where":
            try arguments.expect(1...1)
            return WhereStage(condition: try environment.compile(stage.arguments[0]))
        case "select":
            try arguments.expect(1...1)
            return try select(arguments)
        case "add_fields":
            try arguments.expect(1...1)
            let aliases = try arguments.aliases(0)
            for alias in aliases where Self.isOfDocument(alias.path) {
                throw .invalid("The name \(alias.path.encoded) is reserved.")
            }
            return AddFieldsStage(aliases: aliases)
        case "remove_fields":
            try arguments.expect(1...Function.many)
            var paths: [FieldPath] = []
            for argument in stage.arguments {
                paths.append(try arguments.path(argument, as: "fields"))
            }
            return RemoveFieldsStage(paths: paths)
        case "let":
            try arguments.expect(1...1)
            return try define(arguments)
        case "replace_with": return try replace(arguments)
        case "unnest": return try unnest(arguments)
        default: return nil
        }
    }

    private static func isOfDocument(_ path: FieldPath) -> Bool {
        path.segments.count == 1
            && ["__name__", "__create_time__", "__update_time__"].contains(path.segments[0])
    }

    /// The document's own parts keep their place beside the fields.
    func select(
        _ arguments: StageArguments, as name: String = "fields"
    ) throws(PipelineError) -> SelectStage {
        var keeps: PipelineRow.Parts = []
        var aliases: [Alias] = []
        for alias in try arguments.aliases(0, as: name) {
            guard Self.isOfDocument(alias.path) else {
                aliases.append(alias)
                continue
            }
            switch (alias.path.segments[0], alias.value) {
            case ("__name__", .name): keeps.insert(.name)
            case ("__create_time__", .createTime): keeps.insert(.createTime)
            case ("__update_time__", .updateTime): keeps.insert(.updateTime)
            default: throw .invalid("The name \(alias.path.encoded) is reserved.")
            }
        }
        return SelectStage(aliases: aliases, keeps: keeps)
    }

    private mutating func define(
        _ arguments: StageArguments
    ) throws(PipelineError) -> any CompiledStage {
        var values: [(name: String, value: CompiledExpression)] = []
        for entry in try arguments.entries(0, as: "variables") {
            values.append((entry.key, try environment.compile(entry.value)))
        }
        var variables: [(slot: Int, value: CompiledExpression)] = []
        for (name, value) in values {
            if let old = environment.variables[ByteString(name)] {
                variables.append((old, value))
            } else {
                variables.append((try environment.bind(name), value))
            }
        }
        return DefineStage(variables: variables)
    }

    private func replace(_ arguments: StageArguments) throws(PipelineError) -> any CompiledStage {
        try arguments.expect(1...2)
        var mode = ReplaceStage.Mode.full
        if arguments.stage.arguments.count == 2 {
            let name = try arguments.string(arguments.stage.arguments[1], as: "mode")
            guard let known = ReplaceStage.Mode(rawValue: name) else {
                throw .invalid("Unknown mode of replace_with: \(name)")
            }
            mode = known
        }
        let value = try environment.compile(arguments.stage.arguments[0])
        return ReplaceStage(value: value, mode: mode)
    }

    private func unnest(_ arguments: StageArguments) throws(PipelineError) -> any CompiledStage {
        try arguments.expect(2...2, options: ["index_field"])
        let index = try arguments.option("index_field").map { option throws(PipelineError) in
            if case .constant(.string(let name)) = option { return try environment.alias(name) }
            return try arguments.path(option, as: "index_field")
        }
        return UnnestStage(
            value: try environment.compile(arguments.stage.arguments[0]),
            alias: try arguments.path(arguments.stage.arguments[1], as: "alias"), index: index)
    }
}
