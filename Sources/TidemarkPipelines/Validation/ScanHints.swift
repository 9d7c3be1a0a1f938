import TidemarkModel

/// The conditions and the order that the stages behind a source put on its documents.
struct ScanHints {
    private var filter: Filter?
    private var orders: [Order] = []
    private var limit: Int?
    private var terms: [SearchTerm] = []
    /// The sort whose order the source may deliver.
    private(set) var sortIndex: Int?
    /// True if all stages behind the source are in the hints, so that they change nothing in rows
    /// of a source that applies the hints.
    private(set) var areComplete = false
    /// The number of conditions directly behind the source that are TRUE for every document of a
    /// source that applies the filter.
    private(set) var exactConditions = 0

    func scan(of origin: PipelineScan.Origin, forceIndex: String?) -> PipelineScan {
        PipelineScan(
            origin: origin, forceIndex: forceIndex, filter: filter, orders: orders, limit: limit,
            terms: terms)
    }

    /// - Parameter variables: The values of variables, by their slots; empty before a run.
    init(_ pipeline: Pipeline, _ environment: Environment, variables: [Outcome] = []) {
        let known = KnownValues(environment: environment, variables: variables)
        var conditions: [FilterHint] = []
        var index = 1
        while index < pipeline.stages.count, pipeline.stages[index].name == "where",
            let argument = pipeline.stages[index].arguments.first
        {
            conditions.append(FilterHint(argument, known))
            index += 1
        }
        if pipeline.stages.count > 1, pipeline.stages[1].name == "search",
            let query = pipeline.stages[1].options.first(where: { $0.key == "query" })?.value
        {
            terms = SearchCompiler.terms(in: query, allowsPrefixes: environment.isOnDevice)
        }
        let all = conditions.count == 1 ? conditions[0] : FilterHint(all: conditions)
        filter = all.filter
        if all.isExact(ordered: []) { exactConditions = conditions.count }
        var isComplete = true
        if index < pipeline.stages.count, pipeline.stages[index].name == "sort" {
            let found = Self.orders(of: pipeline.stages[index], all.existing)
            isComplete = found != nil
            if let found { (orders, sortIndex) = (found, index) }
            index += 1
        }
        if isComplete, all.isExact(ordered: orders) {
            let rest = pipeline.stages[min(index, pipeline.stages.count)...]
            limit = Self.limit(of: rest)
            let isLimit = rest.count == 1 && rest.first?.name == "limit" && limit ?? 0 > 0
            areComplete = terms.isEmpty && (rest.isEmpty || isLimit)
            #if TIDEMARK_DEFECTS
                if PipelineDefect.planted == .offsetIsLimit { areComplete = limit != nil }
            #endif
        }
    }

    /// Returns the orders of a sort by fields that every needed document has; nil for other sorts.
    private static func orders(of stage: Pipeline.Stage, _ existing: Set<FieldPath>) -> [Order]? {
        var orders: [Order] = []
        for case .map(let entries) in stage.arguments {
            guard case .field(let text)? = entries.first(where: { $0.key == "expression" })?.value,
                let path = try? FieldPath(encoded: text),
                existing.contains(path) || path.isDocumentID
            else { return nil }
            let direction = entries.first { $0.key == "direction" }?.value
            let isDescending = direction == .constant(.string("descending"))
            orders.append(Order(path, isDescending ? .descending : .ascending))
        }
        return orders.isEmpty ? nil : orders
    }

    private static func limit(of stages: ArraySlice<Pipeline.Stage>) -> Int? {
        var skipped = 0
        for stage in stages {
            guard case .constant(.integer(let count))? = stage.arguments.first,
                (0...1_000_000_000).contains(count)
            else { return nil }
            if stage.name == "limit" { return skipped + Int(count) }
            guard stage.name == "offset" else { return nil }
            skipped += Int(count)
        }
        return nil
    }
}

/// The hints of a nested pipeline for one outer row, whose variables its conditions can use. With
/// them, a join reads the documents that match the row, and not its whole source for each row.
struct LateHints: Sendable {
    private let pipeline: Pipeline
    private let database: DatabaseID
    private let limits: PipelineLimits
    private let variables: [ByteString: Int]

    /// Returns nil if no condition uses a variable.
    init?(_ pipeline: Pipeline, _ environment: Environment) {
        let conditions = pipeline.stages.dropFirst().prefix { $0.name == "where" }
        guard conditions.contains(where: { $0.arguments.contains(where: Self.hasVariable) }) else {
            return nil
        }
        self.pipeline = Pipeline(stages: pipeline.stages)
        (database, limits) = (environment.database, environment.limits)
        variables = environment.variables
    }

    private static func hasVariable(_ expression: Pipeline.Expression) -> Bool {
        switch expression {
        case .variable: true
        case .function(_, let arguments, _): arguments.contains(where: hasVariable)
        case .array(let elements): elements.contains(where: hasVariable)
        case .constant, .reference, .field, .pipeline, .map: false
        }
    }

    func scan(_ scan: PipelineScan, _ values: [Outcome]) -> PipelineScan {
        let environment = Environment(
            database: database, limits: limits, variables: variables, findings: Findings())
        return ScanHints(pipeline, environment, variables: values)
            .scan(of: scan.origin, forceIndex: scan.forceIndex)
    }
}

/// The names and values that conditions can use.
struct KnownValues {
    let environment: Environment
    let variables: [Outcome]

    /// Returns the value that an operand has in every row; nil if it has none.
    func value(of expression: Pipeline.Expression) -> Value? {
        if case .variable(let name) = expression {
            guard let slot = environment.variables[ByteString(name)], slot < variables.count,
                case .value(let value) = variables[slot]
            else { return nil }
            return value
        }
        return (try? environment.compile(expression))?.constantValue
    }
}

/// A condition of a pipeline as a query's filter, as far as one can express it.
struct FilterHint {
    /// Every document for which the condition is TRUE matches; nil if nothing is known.
    private(set) var filter: Filter?
    /// True if the condition is TRUE for every document that matches and has the fields of
    /// `required`.
    private var isExact = false
    /// The fields whose existence the condition asks for and the filter does not ensure.
    private var required: Set<FieldPath> = []
    /// The fields that a document must have.
    private(set) var existing: Set<FieldPath> = []
    /// The fields of ranges. A query returns no document that lacks one of them.
    private var ranged: Set<FieldPath> = []

    /// True if the condition is TRUE for every document that matches.
    ///
    /// - Parameter orders: The orders of the scan, whose fields every document has.
    func isExact(ordered orders: [Order]) -> Bool {
        if !isExact || required.isEmpty { return isExact }
        #if TIDEMARK_DEFECTS
            if PipelineDefect.planted == .existenceAssumed { return true }
        #endif
        // A search in few orders is faster than a set of them.
        if orders.count <= 8 {
            return required.allSatisfy { field in
                field.isDocumentID || orders.contains { $0.field == field }
            }
        }
        let indexed = Set(orders.map(\.field))
        return required.allSatisfy { $0.isDocumentID || indexed.contains($0) }
    }

    init(all hints: [FilterHint]) {
        let filters = hints.compactMap(\.filter)
        filter = filters.count > 1 ? .and(filters) : filters.first
        isExact = hints.allSatisfy(\.isExact)
        for hint in hints {
            existing.formUnion(hint.existing)
            required.formUnion(hint.required)
            ranged.formUnion(hint.ranged)
        }
        for hint in hints where hint.filter != nil && !required.isEmpty {
            #if TIDEMARK_DEFECTS
                if PipelineDefect.planted == .existenceLost { required.subtract(hint.existing) }
            #endif
            // Not those that the filter does not ensure.
            required.subtract(hint.existing.subtracting(hint.required))
        }
    }

    private init() {}

    private init(any hints: [FilterHint]) {
        guard let first = hints.first else { return }
        let common = hints.dropFirst().reduce(first.existing) { $0.intersection($1.existing) }
        existing = common
        guard hints.allSatisfy({ $0.filter != nil }) else { return }
        let ranges = hints.reduce(into: Set<FieldPath>()) { $0.formUnion($1.ranged) }
        guard ranges.isSubset(of: common) else { return }
        filter = hints.count > 1 ? .or(hints.compactMap(\.filter)) : first.filter
        isExact = hints.allSatisfy { $0.isExact && $0.required.isEmpty }
        ranged = ranges
    }

    init(_ expression: Pipeline.Expression, _ known: KnownValues) {
        guard case .function(let name, let arguments, _) = expression else {
            self.init()
            return
        }
        let hints = { arguments.map { FilterHint($0, known) } }
        switch name {
        case "and": self.init(all: hints())
        case "or": self.init(any: hints())
        default: self.init(call: name, arguments, known)
        }
    }

    private init(
        call name: String, _ arguments: [Pipeline.Expression], _ known: KnownValues
    ) {
        guard case .field(let text)? = arguments.first,
            let path = try? FieldPath(encoded: text), !Self.isTime(path)
        else { return }
        if name == "exists", arguments.count == 1 {
            (existing, required, isExact) = ([path], [path], true)
            return
        }
        guard arguments.count == 2, let value = known.value(of: arguments[1]),
            let operation = Self.operators[name]
        else { return }
        if operation == .isIn {
            guard case .array(let values) = value, !values.isEmpty,
                values.allSatisfy(Self.isPlain)
            else { return }
        } else if !Self.isPlain(value) {
            return
        }
        if path.isDocumentID, !Self.isName(value) { return }
        filter = .field(path, operation, value)
        #if TIDEMARK_DEFECTS
            if PipelineDefect.planted == .hintTooNarrow, operation == .lessThanOrEqual {
                filter = .field(path, .lessThan, value)
            }
        #endif
        existing = [path]
        if [.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual].contains(operation) {
            ranged = [path]
        }
        // A query puts NaN before the numbers, and a pipeline compares it with none.
        isExact = !(value.isNumber && (operation == .lessThan || operation == .lessThanOrEqual))
    }

    private static let operators: [String: Filter.Operator] = [
        "equal": .equal, "less_than": .lessThan, "less_than_or_equal": .lessThanOrEqual,
        "greater_than": .greaterThan, "greater_than_or_equal": .greaterThanOrEqual,
        "equal_any": .isIn, "array_contains": .arrayContains,
    ]

    /// True for values of which queries and pipelines have the same equality and order.
    private static func isPlain(_ value: Value) -> Bool {
        switch value {
        case .boolean, .integer, .timestamp, .string, .bytes, .reference, .geoPoint: true
        case .double(let number): !number.isNaN
        case .null, .pendingServerTimestamp, .array, .vector, .map: false
        }
    }

    private static func isName(_ value: Value) -> Bool {
        switch value {
        case .reference: true
        case .array(let values): values.allSatisfy(isName)
        default: false
        }
    }

    private static func isTime(_ path: FieldPath) -> Bool {
        path.segments.count == 1
            && ["__create_time__", "__update_time__"].contains(path.segments[0])
    }
}
