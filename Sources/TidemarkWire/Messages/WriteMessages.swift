// Messages of `google/firestore/v1/write.proto` and `bloom_filter.proto`.

struct WriteMessage: WireMessage {
    /// An encoded `Document`.
    var update: MessageBytes?
    var delete: String?
    var updateMask: DocumentMaskMessage?
    var currentDocument: PreconditionMessage?
    var verify: String?
    var transform: DocumentTransformMessage?
    var updateTransforms: [FieldTransformMessage] = []
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &update, of: .operation)
        coder.field(2, &delete, of: .operation)
        coder.field(3, &updateMask)
        coder.field(4, &currentDocument)
        coder.field(5, &verify, of: .operation)
        coder.field(6, &transform, of: .operation)
        coder.field(7, &updateTransforms)
        coder.unknown(&hasUnknownFields)
    }

    var documentBytes: Int { 64 + (update?.count ?? 0) }
}

struct DocumentTransformMessage: WireMessage {
    var document = ""
    var fieldTransforms: [FieldTransformMessage] = []
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &document)
        coder.field(2, &fieldTransforms)
        coder.unknown(&hasUnknownFields)
    }
}

struct FieldTransformMessage: WireMessage {
    /// The numbers of transforms with an operand, which is an encoded `Value` or `ArrayValue`.
    enum Operand {
        static let increment: UInt64 = 3
        static let maximum: UInt64 = 4
        static let minimum: UInt64 = 5
        static let appendMissingElements: UInt64 = 6
        static let removeAllFromArray: UInt64 = 7
    }

    var fieldPath = ""
    /// 1 for the time of the request.
    var setToServerValue: Int32?
    var operand: NumberedBytes?
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &fieldPath)
        coder.field(2, &setToServerValue, of: .transform)
        coder.field(3...7, &operand, of: .transform)
        coder.unknown(&hasUnknownFields)
    }
}

struct WriteResultMessage: WireMessage {
    var updateTime: TimestampMessage?
    /// The elements are encoded `Value`s.
    var transformResults: [MessageBytes] = []

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &updateTime)
        coder.field(2, &transformResults)
    }
}

struct DocumentChangeMessage: WireMessage {
    /// An encoded `Document`.
    var document = MessageBytes()
    var targetIDs: [Int32] = []
    var removedTargetIDs: [Int32] = []

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &document)
        coder.field(5, &targetIDs)
        coder.field(6, &removedTargetIDs)
    }
}

struct DocumentDeleteMessage: WireMessage {
    var document = ""
    var readTime: TimestampMessage?
    var removedTargetIDs: [Int32] = []

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &document)
        coder.field(4, &readTime)
        coder.field(6, &removedTargetIDs)
    }
}

struct DocumentRemoveMessage: WireMessage {
    var document = ""
    var removedTargetIDs: [Int32] = []
    var readTime: TimestampMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &document)
        coder.field(2, &removedTargetIDs)
        coder.field(4, &readTime)
    }
}

struct ExistenceFilterMessage: WireMessage {
    var targetID: Int32 = 0
    var count: Int32 = 0
    var unchangedNames: BloomFilterMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &targetID)
        coder.field(2, &count)
        coder.field(3, &unchangedNames)
    }
}

struct BloomFilterMessage: WireMessage {
    var bits: BitSequenceMessage?
    var hashCount: Int32 = 0

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &bits)
        coder.field(2, &hashCount)
    }
}

struct BitSequenceMessage: WireMessage {
    var bitmap = MessageBytes()
    var padding: Int32 = 0

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &bitmap)
        coder.field(2, &padding)
    }
}
