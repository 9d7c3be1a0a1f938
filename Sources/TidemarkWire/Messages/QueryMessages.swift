// Messages of `google/firestore/v1/query.proto`.

struct StructuredQueryMessage: WireMessage {
    var select: ProjectionMessage?
    var from: [CollectionSelectorMessage] = []
    var `where`: FilterMessage?
    var orderBy: [OrderMessage] = []
    var limit: WrappedMessage<Int32>?
    var offset: Int32 = 0
    var startAt: CursorMessage?
    var endAt: CursorMessage?
    var findNearest: FindNearestMessage?
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &select)
        coder.field(2, &from)
        coder.field(3, &`where`)
        coder.field(4, &orderBy)
        coder.field(5, &limit)
        coder.field(6, &offset)
        coder.field(7, &startAt)
        coder.field(8, &endAt)
        coder.field(9, &findNearest)
        coder.unknown(&hasUnknownFields)
    }
}

struct ProjectionMessage: WireMessage {
    var fields: [FieldReferenceMessage] = []

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(2, &fields) }
}

struct FieldReferenceMessage: WireMessage {
    var fieldPath = ""
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(2, &fieldPath)
        coder.unknown(&hasUnknownFields)
    }
}

struct CollectionSelectorMessage: WireMessage {
    var collectionID = ""
    var allDescendants = false
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(2, &collectionID)
        coder.field(3, &allDescendants)
        coder.unknown(&hasUnknownFields)
    }
}

struct FilterMessage: WireMessage {
    var compositeFilter: Composite?
    var fieldFilter: Field?
    var unaryFilter: Unary?
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &compositeFilter, of: .filter)
        coder.field(2, &fieldFilter, of: .filter)
        coder.field(3, &unaryFilter, of: .filter)
        coder.unknown(&hasUnknownFields)
    }

    struct Composite: WireMessage {
        /// 1 for and, 2 for or.
        var op: Int32 = 0
        var filters: [FilterMessage] = []
        var hasUnknownFields = false

        mutating func listFields(_ coder: inout some FieldCoder) {
            coder.field(1, &op)
            coder.field(2, &filters)
            coder.unknown(&hasUnknownFields)
        }
    }

    struct Field: WireMessage {
        var field: FieldReferenceMessage?
        var op: Int32 = 0
        /// An encoded `Value`.
        var value = MessageBytes()
        var hasUnknownFields = false

        mutating func listFields(_ coder: inout some FieldCoder) {
            coder.field(1, &field)
            coder.field(2, &op)
            coder.field(3, &value)
            coder.unknown(&hasUnknownFields)
        }
    }

    struct Unary: WireMessage {
        var op: Int32 = 0
        var field: FieldReferenceMessage?
        var hasUnknownFields = false

        mutating func listFields(_ coder: inout some FieldCoder) {
            coder.field(1, &op)
            coder.field(2, &field)
            coder.unknown(&hasUnknownFields)
        }
    }
}

struct OrderMessage: WireMessage {
    var field: FieldReferenceMessage?
    /// 1 for ascending, 2 for descending.
    var direction: Int32 = 0
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &field)
        coder.field(2, &direction)
        coder.unknown(&hasUnknownFields)
    }
}

struct CursorMessage: WireMessage {
    /// The elements are encoded `Value`s.
    var values: [MessageBytes] = []
    var before = false
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &values)
        coder.field(2, &before)
        coder.unknown(&hasUnknownFields)
    }
}

struct FindNearestMessage: WireMessage {
    var vectorField: FieldReferenceMessage?
    /// An encoded `Value`.
    var queryVector = MessageBytes()
    var distanceMeasure: Int32 = 0
    var limit: WrappedMessage<Int32>?
    var distanceResultField = ""
    var distanceThreshold: WrappedMessage<Double>?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &vectorField)
        coder.field(2, &queryVector)
        coder.field(3, &distanceMeasure)
        coder.field(4, &limit)
        coder.field(5, &distanceResultField)
        coder.field(6, &distanceThreshold)
    }
}

struct StructuredAggregationQueryMessage: WireMessage {
    var structuredQuery: StructuredQueryMessage?
    var aggregations: [AggregationMessage] = []

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &structuredQuery)
        coder.field(3, &aggregations)
    }
}

struct AggregationMessage: WireMessage {
    var count: Count?
    var sum: OfField?
    var avg: OfField?
    var alias = ""

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &count, of: .aggregation)
        coder.field(2, &sum, of: .aggregation)
        coder.field(3, &avg, of: .aggregation)
        coder.field(7, &alias)
    }

    struct Count: WireMessage {
        var upTo: WrappedMessage<Int64>?

        mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &upTo) }
    }

    /// A `Sum` or an `Avg`.
    struct OfField: WireMessage {
        var field: FieldReferenceMessage?

        mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &field) }
    }
}
