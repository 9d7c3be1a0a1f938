import TidemarkModel

/// An expression whose names are resolved: functions, fields and variables.
indirect enum CompiledExpression: Sendable {
    case constant(Outcome)
    case field(FieldPath)
    case name
    case createTime
    case updateTime
    /// A variable, by its slot in ``PipelineRow/variables``.
    case variable(Int)
    case call(Function, [CompiledExpression])
    case array([CompiledExpression])
    case map([CompiledEntry])
    case lambda(Lambda)
    case subquery(CompiledPipeline, Subquery)

    enum Subquery: Sendable { case array, scalar }

    func evaluate(_ scope: Scope) -> Outcome {
        switch self {
        case .constant(let outcome): outcome
        case .field(let path): scope.row[path].map(Outcome.value) ?? .absent
        case .name: scope.row.name.map { .value(.reference($0)) } ?? .absent
        case .createTime: scope.row.createTime.map { .value(.timestamp($0)) } ?? .absent
        case .updateTime: scope.row.updateTime.map { .value(.timestamp($0)) } ?? .absent
        case .variable(let slot):
            slot < scope.row.variables.count ? scope.row.variables[slot] : .absent
        case .call(let function, let arguments):
            scope.run.count() ? function.body(arguments, scope) : Self.ended
        case .array(let elements): Self.array(elements, scope).bounded(in: "array", scope)
        case .map(let entries): Self.map(entries, scope).bounded(in: "map", scope)
        case .lambda(let lambda): lambda.evaluate(scope)
        case .subquery(let pipeline, let kind): pipeline.result(kind, scope)
        }
    }

    /// The result of an expression in a run that ends. The run throws its reason.
    static let ended = Outcome.error("The run has ended.")

    /// An absent element becomes null.
    static func array(_ elements: [CompiledExpression], _ scope: Scope) -> Outcome {
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            switch element.evaluate(scope) {
            case .absent: values.append(.null)
            case .value(let value): values.append(value)
            case .error(let message): return .error(message)
            }
        }
        return .value(.array(values))
    }

    /// An absent value leaves out its key.
    static func map(_ entries: [CompiledEntry], _ scope: Scope) -> Outcome {
        var pairs: [(String, Value)] = []
        pairs.reserveCapacity(entries.count)
        for entry in entries {
            switch entry.value.evaluate(scope) {
            case .absent: continue
            case .value(let value): pairs.append((entry.key, value))
            case .error(let message): return .error(message)
            }
        }
        return .value(.map(MapValue(pairs)))
    }

    /// True if the value depends on fields alone, and not on the rest of a document or on other
    /// sources. Variables can only be those of functions inside the expression, unless a stage
    /// defines some.
    var readsFieldsOnly: Bool {
        switch self {
        case .constant, .field, .variable: true
        case .name, .createTime, .updateTime, .subquery: false
        case .call(let function, let arguments):
            !Self.ofRows.contains(function.name) && arguments.allSatisfy(\.readsFieldsOnly)
        case .array(let elements): elements.allSatisfy(\.readsFieldsOnly)
        case .map(let entries): entries.allSatisfy(\.value.readsFieldsOnly)
        case .lambda(let lambda):
            lambda.array.readsFieldsOnly && lambda.body.readsFieldsOnly
        }
    }

    /// The functions that read the whole row.
    private static let ofRows: Set = ["current_document", "document_matches", "score"]

    /// The constant value, if the expression is one.
    var constantValue: Value? {
        if case .constant(.value(let value)) = self { value } else { nil }
    }
}

struct CompiledEntry: Sendable {
    let key: String
    let value: CompiledExpression
}

/// The row of an expression, and the run that it belongs to.
struct Scope {
    var row: PipelineRow
    let run: RunState
}

/// A function that evaluates an expression once for each element of an array.
struct Lambda: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case filter = "array_filter"
        case transform = "array_transform"
    }

    let kind: Kind
    let array: CompiledExpression
    let element: Int
    let index: Int?
    let body: CompiledExpression

    func evaluate(_ scope: Scope) -> Outcome {
        let input = array.evaluate(scope)
        if input.isNothing { return .null }
        guard case .value(let value) = input else { return input }
        guard case .array(let elements) = value else {
            return .error(Fault.type(kind.rawValue, wanted: "an array", found: value).message)
        }
        var inner = scope
        let slots = max(element, index ?? 0) + 1
        while inner.row.variables.count < slots { inner.row.variables.append(.absent) }
        var result: [Value] = []
        for (position, item) in elements.enumerated() {
            guard scope.run.count() else { return CompiledExpression.ended }
            #if TIDEMARK_DEFECTS
                let isLate = PipelineDefect.planted == .lateVariables && position > 0
                inner.row.variables[element] = .value(isLate ? elements[position - 1] : item)
            #else
                inner.row.variables[element] = .value(item)
            #endif
            if let index { inner.row.variables[index] = .integer(position) }
            let outcome = body.evaluate(inner)
            if outcome.isError { return outcome }
            switch kind {
            case .transform: result.append(outcome.sortKey)
            case .filter:
                if outcome.isTrue { result.append(item) }
                guard !outcome.isNothing, case .value(let found) = outcome else { continue }
                guard case .boolean = found else {
                    return .error(
                        Fault.type(kind.rawValue, wanted: "a boolean", found: found).message)
                }
            }
        }
        return Outcome.value(.array(result)).bounded(in: kind.rawValue, scope)
    }
}
