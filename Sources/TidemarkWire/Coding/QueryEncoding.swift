import TidemarkModel

extension StructuredQueryMessage {
    /// Encodes ``Query/wireForm``: a limit to the last rows becomes a limit to the first rows in
    /// the reversed order, and the rows arrive in that order.
    init(_ query: Query) {
        self.init()
        let query = query.wireForm
        from = [
            CollectionSelectorMessage(
                collectionID: query.collectionID ?? "", allDescendants: query.allDescendants)
        ]
        `where` = query.filter.map(FilterMessage.init)
        orderBy = query.orders.map(OrderMessage.init)
        startAt = query.start.map(CursorMessage.init)
        endAt = query.end.map(CursorMessage.init)
        offset = Int32(clamping: query.offset)
        limit = query.limit.map { WrappedMessage(value: Int32(clamping: $0.count)) }
        select = query.projection.map { fields in
            ProjectionMessage(fields: fields.map(FieldReferenceMessage.init))
        }
        findNearest = query.findNearest.map(FindNearestMessage.init)
    }
}

extension FieldReferenceMessage {
    init(_ field: FieldPath) { self.init(fieldPath: field.encoded) }

    func decoded() throws(RPCStatus) -> FieldPath { try FieldPath(wire: fieldPath) }
}

extension FieldReferenceMessage? {
    /// Decodes the path. A missing reference has an empty path, which is refused.
    func decoded() throws(RPCStatus) -> FieldPath {
        try FieldPath(wire: self?.fieldPath ?? "")
    }
}

extension OrderMessage {
    static let ascending: Int32 = 1
    static let descending: Int32 = 2

    init(_ order: Order) {
        self.init()
        field = FieldReferenceMessage(order.field)
        direction = order.direction == .ascending ? Self.ascending : Self.descending
    }
}

extension FilterMessage {
    init(_ filter: Filter) {
        self.init()
        switch filter {
        case .field(let path, let op, let value):
            fieldFilter = Field(
                field: FieldReferenceMessage(path), op: op.wireNumber,
                value: MessageBytes(FieldsCodec.encode(value)))
        case .unary(let path, let op):
            unaryFilter = Unary(op: op.wireNumber, field: FieldReferenceMessage(path))
        case .and(let filters):
            compositeFilter = Composite(op: Composite.and, filters: filters.map(Self.init))
        case .or(let filters):
            compositeFilter = Composite(op: Composite.or, filters: filters.map(Self.init))
        }
    }
}

extension FilterMessage.Composite {
    static let and: Int32 = 1
    static let or: Int32 = 2
}

extension Filter.Operator {
    var wireNumber: Int32 {
        switch self {
        case .lessThan: 1
        case .lessThanOrEqual: 2
        case .greaterThan: 3
        case .greaterThanOrEqual: 4
        case .equal: 5
        case .notEqual: 6
        case .arrayContains: 7
        case .isIn: 8
        case .arrayContainsAny: 9
        case .notIn: 10
        }
    }

    init(wire number: Int32) throws(RPCStatus) {
        guard let op = Self.allCases.first(where: { $0.wireNumber == number }) else {
            throw .invalidArgument("A field filter has no operator that this server knows.")
        }
        self = op
    }
}

extension Filter.UnaryOperator {
    var wireNumber: Int32 {
        switch self {
        case .isNaN: 2
        case .isNull: 3
        case .isNotNaN: 4
        case .isNotNull: 5
        }
    }

    init(wire number: Int32) throws(RPCStatus) {
        guard let op = Self.allCases.first(where: { $0.wireNumber == number }) else {
            throw .invalidArgument("A unary filter has no operator that this server knows.")
        }
        self = op
    }
}

extension AggregationMessage {
    init(_ aggregation: Aggregation) {
        self.init()
        alias = aggregation.alias
        switch aggregation.operation {
        case .count(let upTo):
            count = Count(upTo: upTo.map { WrappedMessage(value: $0) })
        case .sum(let field): sum = OfField(field: FieldReferenceMessage(field))
        case .average(let field): avg = OfField(field: FieldReferenceMessage(field))
        }
    }

    func decoded() throws(RPCStatus) -> Aggregation {
        if let count {
            let upTo = count.upTo?.value
            if let upTo, upTo < 0 {
                throw .invalidArgument(
                    """
                    The `up_to` value in a COUNT aggregation must be greater than or equal to zero.
                    """)
            }
            return Aggregation(alias: alias, .count(upTo: upTo))
        }
        if let sum { return Aggregation(alias: alias, .sum(try sum.field.decoded())) }
        if let avg {
            return Aggregation(alias: alias, .average(try avg.field.decoded()))
        }
        throw .invalidArgument("Operator field in Aggregation is not set.")
    }
}
