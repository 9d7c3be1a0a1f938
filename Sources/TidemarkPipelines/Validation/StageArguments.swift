import TidemarkModel

/// The arguments and options of a stage, read one after the other.
struct StageArguments {
    let stage: Pipeline.Stage
    let environment: Environment

    /// - Throws: ``PipelineError`` if the number of arguments or an option is wrong.
    func expect(
        _ counts: ClosedRange<Int>, options: Set<String> = []
    ) throws(PipelineError) {
        guard counts.contains(stage.arguments.count) else {
            throw .invalid(
                "Stage \(stage.name) does not accept \(stage.arguments.count) arguments.")
        }
        for option in stage.options where !options.contains(option.key) {
            throw .invalid("The stage \(stage.name) has no option \"\(option.key)\".")
        }
    }

    func option(_ key: String) -> Pipeline.Expression? {
        stage.options.last { $0.key.hasSameBytes(as: key) }?.value
    }

    func entries(
        _ index: Int, as name: String = "fields"
    ) throws(PipelineError) -> [Pipeline.Entry] {
        guard case .map(let entries) = stage.arguments[index] else {
            if case .constant(.map(let fields)) = stage.arguments[index] {
                return fields.map { Pipeline.Entry(key: $0.key, value: .constant($0.value)) }
            }
            throw .expected("MAP_VALUE", for: name, but: stage.arguments[index])
        }
        return entries
    }

    /// Returns the aliases of a map, those with shorter paths first: a whole map must not replace
    /// a field inside.
    func aliases(
        _ index: Int, as name: String = "fields"
    ) throws(PipelineError) -> [Alias] {
        var result: [Alias] = []
        for entry in try entries(index, as: name) {
            result.append(
                Alias(
                    path: try environment.alias(entry.key),
                    value: try environment.compile(entry.value)))
        }
        return result.sorted { $0.path.segments.count < $1.path.segments.count }
    }

    func path(
        _ expression: Pipeline.Expression, as name: String
    ) throws(PipelineError) -> FieldPath {
        guard case .field(let text) = expression else {
            throw .expected("FIELD_REFERENCE_VALUE", for: name, but: expression)
        }
        return try environment.path(text)
    }

    func string(
        _ expression: Pipeline.Expression, as name: String
    ) throws(PipelineError) -> String {
        guard case .constant(.string(let text)) = expression else {
            throw .expected("STRING_VALUE", for: name, but: expression)
        }
        return text
    }

    /// Returns a number of rows.
    func count(
        _ expression: Pipeline.Expression, as name: String
    ) throws(PipelineError) -> Int {
        guard case .constant(.integer(let number)) = expression else {
            throw .expected("INTEGER_VALUE", for: name, but: expression)
        }
        if number < 0 { throw .invalid("\(name) must be non-negative, but was \(number).") }
        return Int(clamping: number)
    }

    func referenceText(_ index: Int, as name: String) throws(PipelineError) -> String {
        guard case .reference(let text) = stage.arguments[index] else {
            throw .expected("REFERENCE_VALUE", for: name, but: stage.arguments[index])
        }
        return text
    }

    func pipeline(_ index: Int, as name: String) throws(PipelineError) -> Pipeline {
        guard case .pipeline(let pipeline) = stage.arguments[index] else {
            throw .expected("PIPELINE_VALUE", for: name, but: stage.arguments[index])
        }
        return pipeline
    }
}
