// The messages of the two streams, from `google/firestore/v1/firestore.proto`.

struct WriteRequestMessage: WireMessage {
    var database = ""
    var streamID = ""
    var writes: [WriteMessage] = []
    var streamToken = MessageBytes()
    var labels: [String: String] = [:]
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &database)
        coder.field(2, &streamID)
        coder.field(3, &writes)
        coder.field(4, &streamToken)
        coder.field(5, &labels)
        coder.field(6, &requestOptions)
    }

    var documentBytes: Int { writes.reduce(0) { $0 + $1.documentBytes } }
}

struct WriteResponseMessage: WireMessage {
    var streamID = ""
    var streamToken = MessageBytes()
    var writeResults: [WriteResultMessage] = []
    var commitTime: TimestampMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &streamID)
        coder.field(2, &streamToken)
        coder.field(3, &writeResults)
        coder.field(4, &commitTime)
    }
}

struct ListenRequestMessage: WireMessage {
    var database = ""
    var addTarget: TargetMessage?
    var removeTarget: Int32?
    var labels: [String: String] = [:]
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &database)
        coder.field(2, &addTarget, of: .change)
        coder.field(3, &removeTarget, of: .change)
        coder.field(4, &labels)
        coder.field(5, &requestOptions)
    }
}

struct TargetMessage: WireMessage {
    var query: Query?
    var documents: Documents?
    var resumeToken: MessageBytes?
    var targetID: Int32 = 0
    var once = false
    var readTime: TimestampMessage?
    var expectedCount: WrappedMessage<Int32>?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(2, &query, of: .target)
        coder.field(3, &documents, of: .target)
        coder.field(4, &resumeToken, of: .resume)
        coder.field(5, &targetID)
        coder.field(6, &once)
        coder.field(11, &readTime, of: .resume)
        coder.field(12, &expectedCount)
    }

    struct Query: WireMessage {
        var parent = ""
        var structuredQuery: StructuredQueryMessage?

        mutating func listFields(_ coder: inout some FieldCoder) {
            coder.field(1, &parent)
            coder.field(2, &structuredQuery)
        }
    }

    struct Documents: WireMessage {
        var documents: [String] = []

        mutating func listFields(_ coder: inout some FieldCoder) { coder.field(2, &documents) }
    }
}

struct ListenResponseMessage: WireMessage {
    var targetChange: TargetChangeMessage?
    var documentChange: DocumentChangeMessage?
    var documentDelete: DocumentDeleteMessage?
    var filter: ExistenceFilterMessage?
    var documentRemove: DocumentRemoveMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(2, &targetChange, of: .response)
        coder.field(3, &documentChange, of: .response)
        coder.field(4, &documentDelete, of: .response)
        coder.field(5, &filter, of: .response)
        coder.field(6, &documentRemove, of: .response)
    }

    var documentBytes: Int { documentChange?.document.count ?? 0 }
}

struct TargetChangeMessage: WireMessage {
    /// The raw value of a `TargetChange.Kind`.
    var targetChangeType: Int32 = 0
    var targetIDs: [Int32] = []
    var cause: StatusMessage?
    var resumeToken = MessageBytes()
    var readTime: TimestampMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &targetChangeType)
        coder.field(2, &targetIDs)
        coder.field(3, &cause)
        coder.field(4, &resumeToken)
        coder.field(6, &readTime)
    }
}
