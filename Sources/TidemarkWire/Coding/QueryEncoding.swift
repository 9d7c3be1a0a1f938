import Foundation
import SwiftProtobuf
import TidemarkModel

extension PBStructuredQuery {
    /// Encodes ``Query/wireForm``: a limit to the last rows becomes a limit to the first rows in
    /// the reversed order, and the rows arrive in that order.
    init(_ query: Query) {
        self.init()
        let query = query.wireForm
        from = [
            .with {
                $0.collectionID = query.collectionID ?? ""
                $0.allDescendants = query.allDescendants
            }
        ]
        if let filter = query.filter { `where` = Filter(filter) }
        orderBy = query.orders.map(Order.init)
        if let start = query.start { startAt = PBCursor(start) }
        if let end = query.end { endAt = PBCursor(end) }
        offset = Int32(clamping: query.offset)
        if let limit = query.limit {
            self.limit = Google_Protobuf_Int32Value(Int32(clamping: limit.count))
        }
        if let projection = query.projection {
            select = .with { $0.fields = projection.map(FieldReference.init) }
        }
        if let nearest = query.findNearest { findNearest = FindNearest(nearest) }
    }
}

extension PBStructuredQuery.FieldReference {
    init(_ field: FieldPath) {
        self.init()
        fieldPath = field.encoded
    }

    func decoded() throws(RPCStatus) -> FieldPath { try FieldPath(wire: fieldPath) }
}

extension PBStructuredQuery.Order {
    init(_ order: TidemarkModel.Order) {
        self.init()
        field = .init(order.field)
        direction = order.direction == .ascending ? .ascending : .descending
    }
}

extension PBStructuredQuery.Filter {
    init(_ filter: TidemarkModel.Filter) {
        self.init()
        switch filter {
        case .field(let field, let op, let value):
            fieldFilter = .with {
                $0.field = .init(field)
                $0.op = .init(op)
                $0.value = Data(FieldsCodec.encode(value))
            }
        case .unary(let field, let op):
            unaryFilter = .with {
                $0.field = .init(field)
                $0.op = .init(op)
            }
        case .and(let filters):
            compositeFilter = .with {
                $0.op = .and
                $0.filters = filters.map(Self.init)
            }
        case .or(let filters):
            compositeFilter = .with {
                $0.op = .or
                $0.filters = filters.map(Self.init)
            }
        }
    }
}

extension PBStructuredQuery.FieldFilter.Operator {
    init(_ op: Filter.Operator) {
        switch op {
        case .lessThan: self = .lessThan
        case .lessThanOrEqual: self = .lessThanOrEqual
        case .greaterThan: self = .greaterThan
        case .greaterThanOrEqual: self = .greaterThanOrEqual
        case .equal: self = .equal
        case .notEqual: self = .notEqual
        case .arrayContains: self = .arrayContains
        case .isIn: self = .in
        case .arrayContainsAny: self = .arrayContainsAny
        case .notIn: self = .notIn
        }
    }

    func decoded() throws(RPCStatus) -> Filter.Operator {
        switch self {
        case .lessThan: .lessThan
        case .lessThanOrEqual: .lessThanOrEqual
        case .greaterThan: .greaterThan
        case .greaterThanOrEqual: .greaterThanOrEqual
        case .equal: .equal
        case .notEqual: .notEqual
        case .arrayContains: .arrayContains
        case .in: .isIn
        case .arrayContainsAny: .arrayContainsAny
        case .notIn: .notIn
        case .unspecified, .UNRECOGNIZED:
            throw .invalidArgument("A field filter has no operator that this server knows.")
        }
    }
}

extension PBStructuredQuery.UnaryFilter.Operator {
    init(_ op: Filter.UnaryOperator) {
        switch op {
        case .isNaN: self = .isNan
        case .isNull: self = .isNull
        case .isNotNaN: self = .isNotNan
        case .isNotNull: self = .isNotNull
        }
    }

    func decoded() throws(RPCStatus) -> Filter.UnaryOperator {
        switch self {
        case .isNan: .isNaN
        case .isNull: .isNull
        case .isNotNan: .isNotNaN
        case .isNotNull: .isNotNull
        case .unspecified, .UNRECOGNIZED:
            throw .invalidArgument("A unary filter has no operator that this server knows.")
        }
    }
}

extension PBStructuredAggregationQuery.Aggregation {
    init(_ aggregation: TidemarkModel.Aggregation) {
        self.init()
        alias = aggregation.alias
        switch aggregation.operation {
        case .count(let upTo):
            count = .with { if let upTo { $0.upTo = Google_Protobuf_Int64Value(upTo) } }
        case .sum(let field): sum = .with { $0.field = .init(field) }
        case .average(let field): avg = .with { $0.field = .init(field) }
        }
    }

    func decoded() throws(RPCStatus) -> TidemarkModel.Aggregation {
        switch `operator` {
        case nil: throw .invalidArgument("Operator field in Aggregation is not set.")
        case .count(let count):
            let upTo = count.hasUpTo ? count.upTo.value : nil
            if let upTo, upTo < 0 {
                throw .invalidArgument(
                    """
                    The `up_to` value in a COUNT aggregation must be greater than or equal to zero.
                    """)
            }
            return Aggregation(alias: alias, .count(upTo: upTo))
        case .sum(let sum): return Aggregation(alias: alias, .sum(try sum.field.decoded()))
        case .avg(let avg): return Aggregation(alias: alias, .average(try avg.field.decoded()))
        }
    }
}
