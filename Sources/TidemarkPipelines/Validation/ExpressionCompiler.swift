import TidemarkModel

/// The names that expressions can use at one place of a pipeline.
struct Environment {
    let database: DatabaseID
    let limits: PipelineLimits
    /// The variables in scope, by name, with their slots.
    var variables: [ByteString: Int] = [:]
    /// The number of slots in use. Two variables never share a slot.
    var slots = 0
    /// The number of subqueries around this place.
    var subqueryDepth = 0
    /// The part of the stage `search` that holds the expression.
    var search = SearchPlace.none
    let findings: Findings
    /// True if the pipeline runs on a device.
    var isOnDevice = false

    mutating func bind(_ name: String) throws(PipelineError) -> Int {
        if slots >= limits.variables {
            throw .invalid("A pipeline may define at most \(limits.variables) variables.")
        }
        variables[ByteString(name)] = slots
        slots += 1
        return slots - 1
    }
}

/// The compiler's notes about a whole pipeline.
final class Findings {
    var sources: [PipelineScan.Origin] = []
    var isDeterministic = true
    var readsClock = false
    var searches = false
}

extension Environment {
    /// Resolves the names of an expression.
    ///
    /// - Throws: ``PipelineError`` of code `invalidArgument` for an unknown function or variable, a
    ///   wrong number of arguments, or a text that is no path.
    func compile(_ expression: Pipeline.Expression) throws(PipelineError) -> CompiledExpression {
        switch expression {
        case .constant(let value): .constant(.value(value))
        case .reference(let text): .constant(.value(.reference(try reference(text))))
        case .field(let text): try field(text)
        case .variable(let name): .variable(try slot(of: name))
        case .array(let elements): try array(elements)
        case .map(let entries): try map(entries)
        case .function(let name, let arguments, let options):
            try call(name, arguments: arguments, options: options)
        case .pipeline:
            throw .invalid("A pipeline is a value only as the argument of array or scalar.")
        }
    }

    func compile(
        _ expressions: [Pipeline.Expression]
    ) throws(PipelineError) -> [CompiledExpression] {
        var result: [CompiledExpression] = []
        result.reserveCapacity(expressions.count)
        for expression in expressions { result.append(try compile(expression)) }
        return result
    }

    private func field(_ text: String) throws(PipelineError) -> CompiledExpression {
        let path = try path(text)
        switch path.segments.count == 1 ? path.segments[0] : "" {
        case "__name__": return .name
        case "__create_time__": return .createTime
        case "__update_time__": return .updateTime
        default: return .field(path)
        }
    }

    func path(_ text: String) throws(PipelineError) -> FieldPath {
        do throws(InvalidPath) { return try FieldPath(encoded: text) } catch {
            throw .invalid(error.message)
        }
    }

    /// Returns the path that an alias names. An alias that is no path is the name of one field.
    func alias(_ text: String) throws(PipelineError) -> FieldPath {
        if let path = try? FieldPath(encoded: text) { return path }
        do throws(InvalidPath) { return try FieldPath(segments: [text]) } catch {
            throw .invalid(error.message)
        }
    }

    private func slot(of name: String) throws(PipelineError) -> Int {
        guard let slot = variables[ByteString(name)] else {
            throw .invalid("unknown variable: \(name)")
        }
        return slot
    }

    /// Returns the document that a relative or absolute reference names.
    func reference(_ text: String) throws(PipelineError) -> ReferenceValue {
        do throws(InvalidPath) {
            if text.hasPrefix("projects/") { return try ReferenceValue(name: text) }
            let path = try DocumentPath(text.hasPrefix("/") ? String(text.dropFirst()) : text)
            return ReferenceValue(database: database, path: path)
        } catch {
            throw .invalid(error.message)
        }
    }

    /// Returns the collection that a relative or absolute reference names.
    func collection(_ text: String) throws(PipelineError) -> CollectionPath {
        var rest = text
        if text.hasPrefix("projects/") {
            let root = database.documentsRoot + "/"
            guard text.hasPrefix(root) else {
                throw .invalid("\"\(text)\" belongs to another database.")
            }
            rest = String(text.dropFirst(root.count))
        } else if text.hasPrefix("/") {
            rest = String(text.dropFirst())
        }
        do throws(InvalidPath) { return try CollectionPath(rest) } catch {
            throw .invalid(error.message)
        }
    }

    private func array(
        _ elements: [Pipeline.Expression]
    ) throws(PipelineError) -> CompiledExpression {
        let compiled = try compile(elements)
        let values = compiled.compactMap(\.constantValue)
        return values.count == compiled.count
            ? .constant(.value(.array(values))) : .array(compiled)
    }

    private func map(_ entries: [Pipeline.Entry]) throws(PipelineError) -> CompiledExpression {
        var compiled: [CompiledEntry] = []
        for entry in entries {
            compiled.append(CompiledEntry(key: entry.key, value: try compile(entry.value)))
        }
        let pairs = compiled.compactMap { entry in
            entry.value.constantValue.map { (entry.key, $0) }
        }
        if pairs.count < compiled.count { return .map(compiled) }
        return .constant(
            .value(MapValue(pairs).asVector.map(Value.vector) ?? .map(MapValue(pairs))))
    }
}

extension MapValue {
    /// The vector whose form on the wire this map is; nil for any other map.
    fileprivate var asVector: VectorValue? {
        guard count == 2, case .string("__vector__")? = self["__type__"],
            case .array(let values)? = self["value"]
        else { return nil }
        var numbers: [Double] = []
        for value in values {
            switch value {
            case .double(let number): numbers.append(number)
            case .integer(let number): numbers.append(Double(number))
            default: return nil
            }
        }
        return VectorValue(numbers)
    }
}
