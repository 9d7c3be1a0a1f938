import TidemarkModel

/// The groups of an aggregation. Holds no rows, except values that a function keeps.
struct GroupTable {
    private let stage: AggregateStage
    private let run: RunState
    private let memory: Reservation
    private var indexes: [GroupKey: Int] = [:]
    /// The keys of the groups.
    private var keys: [[Value?]] = []
    /// The accumulators of all groups, one after the other.
    private var accumulators: [Accumulator] = []
    private let reading: FieldReading
    private var known = KnownKeys()
    /// The fields of a row, by the places of their names.
    private var found: [EncodedValue?]

    init(_ stage: AggregateStage, _ run: RunState) {
        (self.stage, self.run) = (stage, run)
        memory = Reservation(run, stage: "aggregate")
        reading = FieldReading(stage)
        found = Array(repeating: nil, count: reading.names.count)
        // A stage without groups has exactly one row, even if no row arrives.
        if stage.groups.isEmpty { indexes[GroupKey(values: [])] = newGroup([]) }
    }

    private mutating func newGroup(_ key: [Value?]) -> Int {
        keys.append(key)
        for figure in stage.figures { accumulators.append(Accumulator(figure.function)) }
        return keys.count - 1
    }

    // MARK: Rows

    mutating func add(_ row: PipelineRow) throws(PipelineError) {
        guard case .encoded(let contents) = row.contents, reading.names.count > 0 else {
            return try addDecoded(row)
        }
        try contents.bytes.withUnsafeBufferPointer { bytes throws(PipelineError) in
            try add(FieldsInPlace(bytes: bytes), row)
        }
    }

    private mutating func addDecoded(_ row: PipelineRow) throws(PipelineError) {
        let scope = Scope(row: row, run: run)
        let index = try group(of: scope)
        for (place, figure) in stage.figures.enumerated() {
            try add(try stage.argument(of: figure, scope), to: index, place)
        }
    }

    private mutating func add(
        _ value: Value?, to group: Int, _ place: Int
    ) throws(PipelineError) {
        let isKept = accumulators[group * stage.figures.count + place].add(value)
        guard isKept, let value else { return }
        try memory.add(value.size(upTo: run.context.limits.valueBytes) + 48)
    }

    private mutating func group(of scope: Scope) throws(PipelineError) -> Int {
        if stage.groups.isEmpty { return 0 }
        return try group(of: try stage.key(of: scope))
    }

    private mutating func group(of values: [Value?]) throws(PipelineError) -> Int {
        let size = try size(of: values)
        let key = GroupKey(values: values)
        if let index = indexes[key] { return index }
        try memory.add(size + 64 + Accumulator.size * stage.figures.count)
        let index = newGroup(values)
        indexes[key] = index
        return index
    }

    /// Returns the bytes of a key.
    private func size(of key: [Value?]) throws(PipelineError) -> Int {
        let bound = run.context.limits.valueBytes
        var size = 0
        for value in key {
            size += 16 + (value?.size(upTo: bound) ?? 0)
            if size > bound {
                throw PipelineError(
                    .resourceExhausted, "The keys of a group are larger than \(bound) bytes.")
            }
        }
        return size
    }

    func stream(variables: [Outcome]) -> any RowStream {
        var next = 0
        let (stage, memory, keys, accumulators) = (stage, memory, keys, accumulators)
        let count = stage.figures.count
        return GeneratedStream { () throws(PipelineError) in
            guard next < keys.count else { return nil }
            defer { next += 1 }
            _ = memory
            let results = accumulators[next * count..<(next + 1) * count].map(\.result)
            var row = stage.row(key: keys[next], results: results)
            row.variables = variables
            return row
        }
    }
}

// MARK: - Encoded fields

extension GroupTable {
    /// True if the fields of a row suffice, without its document and its variables.
    var needsFieldsOnly: Bool { reading.needsFieldsOnly }

    /// Adds a row of which only the fields are known.
    ///
    /// - Precondition: ``needsFieldsOnly`` is true.
    mutating func add(_ fields: FieldsInPlace) throws(PipelineError) { try add(fields, nil) }

    private mutating func add(
        _ fields: FieldsInPlace, _ row: PipelineRow?
    ) throws(PipelineError) {
        reading.names.find(in: fields, &found)
        let scope = row.map { Scope(row: $0, run: run) }
        let group = try encodedGroup(scope)
        for place in stage.figures.indices {
            switch reading.arguments[place] {
            case .rows: accumulators[group * stage.figures.count + place].addRow()
            case .field(let name): try add(encoded: found[name], to: group, place)
            case .other:
                guard let scope else { preconditionFailure("the figure needs a row") }
                try add(try stage.argument(of: stage.figures[place], scope), to: group, place)
            }
        }
    }

    private mutating func encodedGroup(_ scope: Scope?) throws(PipelineError) -> Int {
        if stage.groups.isEmpty { return 0 }
        guard let places = reading.groups else {
            guard let scope else { preconditionFailure("the group needs a row") }
            return try group(of: scope)
        }
        known.begin()
        for place in places { known.add(found[place]) }
        if let index = known.group { return index }
        let values = places.map { found[$0]?.decoded }
        let index: Int
        #if TIDEMARK_DEFECTS
            index =
                PipelineDefect.planted == .groupsByBytes
                ? newGroup(values) : try group(of: values)
        #else
            index = try group(of: values)
        #endif
        known.keep(index)
        return index
    }

    private mutating func add(
        encoded value: EncodedValue?, to group: Int, _ place: Int
    ) throws(PipelineError) {
        switch stage.figures[place].function {
        case .count:
            // A count needs no value.
            guard let value else { return }
            #if TIDEMARK_DEFECTS
                let countsNulls = PipelineDefect.planted == .encodedNullsCounted
            #else
                let countsNulls = false
            #endif
            if countsNulls || !value.isNull {
                accumulators[group * stage.figures.count + place].addRow()
            }
        case .countIf:
            if value?.decoded == .boolean(true) {
                accumulators[group * stage.figures.count + place].addRow()
            }
        default: try add(value?.decoded, to: group, place)
        }
    }
}

/// The fields that an aggregation reads, so that they are found in one pass over the bytes of a
/// document.
struct FieldReading: Sendable {
    enum Argument {
        /// Every row counts.
        case rows
        /// The field at a place in ``FieldReading/names``.
        case field(Int)
        case other
    }

    /// The top-level fields that are a group's key or an argument.
    let names: FieldNames
    /// The places of the keys; nil if a key is not a top-level field.
    let groups: [Int]?
    let arguments: [Argument]

    init(_ stage: AggregateStage) {
        let keys = stage.groups.map { Self.name(of: $0.value) }
        let fields = stage.figures.map { $0.argument.flatMap(Self.name) }
        let names = FieldNames((keys + fields).compactMap { $0 })
        self.names = names
        let places = keys.compactMap { $0.flatMap(names.place) }
        groups = places.count == keys.count ? places : nil
        arguments = zip(stage.figures, fields).map { figure, field in
            if figure.argument == nil { return .rows }
            return field.flatMap(names.place).map(Argument.field) ?? .other
        }
    }

    /// True if nothing but top-level fields is read.
    var needsFieldsOnly: Bool {
        groups != nil
            && arguments.allSatisfy { if case .other = $0 { false } else { true } }
    }

    private static func name(of expression: CompiledExpression) -> String? {
        guard case .field(let path) = expression, path.segments.count == 1 else { return nil }
        return path.segments[0]
    }
}
