// Messages of `google/firestore/v1/common.proto`, and `google.protobuf`'s own.

struct TimestampMessage: WireMessage {
    var seconds: Int64 = 0
    var nanos: Int32 = 0

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &seconds)
        coder.field(2, &nanos)
    }
}

struct DurationMessage: WireMessage {
    var seconds: Int64 = 0
    var nanos: Int32 = 0

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &seconds)
        coder.field(2, &nanos)
    }
}

/// A number that can be missing: an `Int32Value`, `Int64Value` or `DoubleValue`.
struct WrappedMessage<Number: WireField>: WireMessage {
    var value = Number()

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &value) }
}

struct DocumentMaskMessage: WireMessage {
    var fieldPaths: [String] = []
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &fieldPaths)
        coder.unknown(&hasUnknownFields)
    }
}

struct PreconditionMessage: WireMessage {
    var exists: Bool?
    var updateTime: TimestampMessage?
    var hasUnknownFields = false

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &exists, of: .condition)
        coder.field(2, &updateTime, of: .condition)
        coder.unknown(&hasUnknownFields)
    }
}

struct TransactionOptionsMessage: WireMessage {
    var readOnly: ReadOnly?
    var readWrite: ReadWrite?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(2, &readOnly, of: .mode)
        coder.field(3, &readWrite, of: .mode)
    }

    struct ReadOnly: WireMessage {
        var readTime: TimestampMessage?

        mutating func listFields(_ coder: inout some FieldCoder) { coder.field(2, &readTime) }
    }

    struct ReadWrite: WireMessage {
        var retryTransaction = MessageBytes()
        /// 1 for optimistic, 2 for pessimistic.
        var concurrencyMode: Int32 = 0

        mutating func listFields(_ coder: inout some FieldCoder) {
            coder.field(1, &retryTransaction)
            coder.field(2, &concurrencyMode)
        }
    }
}

/// Options that each request can carry. This server ignores them.
struct RequestOptionsMessage: WireMessage {
    var requestTags: [String] = []

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &requestTags) }
}

/// The alternatives of the choice `consistency_selector`. It is no message: each request has its
/// own numbers for them.
struct ConsistencyFields: Sendable {
    var transaction: MessageBytes?
    var newTransaction: TransactionOptionsMessage?
    var readTime: TimestampMessage?

    /// - Parameters: The numbers of the fields; nil for one that the request does not have.
    mutating func list(
        _ coder: inout some FieldCoder, transaction: UInt64? = nil, newTransaction: UInt64? = nil,
        readTime: UInt64
    ) {
        if let transaction { coder.field(transaction, &self.transaction, of: .consistency) }
        if let newTransaction {
            coder.field(newTransaction, &self.newTransaction, of: .consistency)
        }
        coder.field(readTime, &self.readTime, of: .consistency)
    }
}
