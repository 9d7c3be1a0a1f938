// The requests of calls, from `google/firestore/v1/firestore.proto`.

struct GetDocumentRequestMessage: WireMessage {
    var name = ""
    var mask: DocumentMaskMessage?
    var consistency = ConsistencyFields()
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &name)
        coder.field(2, &mask)
        consistency.list(&coder, transaction: 3, readTime: 5)
        coder.field(10, &requestOptions)
    }
}

struct ListDocumentsRequestMessage: WireMessage {
    var parent = ""
    var collectionID = ""
    var pageSize: Int32 = 0
    var pageToken = ""
    var orderBy = ""
    var mask: DocumentMaskMessage?
    var consistency = ConsistencyFields()
    var showMissing = false
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &parent)
        coder.field(2, &collectionID)
        coder.field(3, &pageSize)
        coder.field(4, &pageToken)
        coder.field(6, &orderBy)
        coder.field(7, &mask)
        consistency.list(&coder, transaction: 8, readTime: 10)
        coder.field(12, &showMissing)
        coder.field(13, &requestOptions)
    }
}

struct CreateDocumentRequestMessage: WireMessage {
    var parent = ""
    var collectionID = ""
    var documentID = ""
    /// An encoded `Document`.
    var document = MessageBytes()
    var mask: DocumentMaskMessage?
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &parent)
        coder.field(2, &collectionID)
        coder.field(3, &documentID)
        coder.field(4, &document)
        coder.field(5, &mask)
        coder.field(6, &requestOptions)
    }

    var documentBytes: Int { document.count }
}

struct UpdateDocumentRequestMessage: WireMessage {
    /// An encoded `Document`.
    var document = MessageBytes()
    var updateMask: DocumentMaskMessage?
    var mask: DocumentMaskMessage?
    var currentDocument: PreconditionMessage?
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &document)
        coder.field(2, &updateMask)
        coder.field(3, &mask)
        coder.field(4, &currentDocument)
        coder.field(5, &requestOptions)
    }

    var documentBytes: Int { document.count }
}

struct DeleteDocumentRequestMessage: WireMessage {
    var name = ""
    var currentDocument: PreconditionMessage?
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &name)
        coder.field(2, &currentDocument)
        coder.field(3, &requestOptions)
    }
}

struct BatchGetDocumentsRequestMessage: WireMessage {
    var database = ""
    var documents: [String] = []
    var mask: DocumentMaskMessage?
    var consistency = ConsistencyFields()
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &database)
        coder.field(2, &documents)
        coder.field(3, &mask)
        consistency.list(&coder, transaction: 4, newTransaction: 5, readTime: 7)
        coder.field(8, &requestOptions)
    }
}

struct BeginTransactionRequestMessage: WireMessage {
    var database = ""
    var options: TransactionOptionsMessage?
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &database)
        coder.field(2, &options)
        coder.field(3, &requestOptions)
    }
}

struct CommitRequestMessage: WireMessage {
    var database = ""
    var writes: [WriteMessage] = []
    var transaction = MessageBytes()
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &database)
        coder.field(2, &writes)
        coder.field(3, &transaction)
        coder.field(4, &requestOptions)
    }

    var documentBytes: Int { writes.reduce(0) { $0 + $1.documentBytes } }
}

struct RollbackRequestMessage: WireMessage {
    var database = ""
    var transaction = MessageBytes()
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &database)
        coder.field(2, &transaction)
        coder.field(3, &requestOptions)
    }
}

struct BatchWriteRequestMessage: WireMessage {
    var database = ""
    var writes: [WriteMessage] = []
    var labels: [String: String] = [:]
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &database)
        coder.field(2, &writes)
        coder.field(3, &labels)
        coder.field(4, &requestOptions)
    }

    var documentBytes: Int { writes.reduce(0) { $0 + $1.documentBytes } }
}

struct RunQueryRequestMessage: WireMessage {
    var parent = ""
    var structuredQuery: StructuredQueryMessage?
    var consistency = ConsistencyFields()
    var explainOptions: ExplainOptionsMessage?
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &parent)
        coder.field(2, &structuredQuery)
        consistency.list(&coder, transaction: 5, newTransaction: 6, readTime: 7)
        coder.field(10, &explainOptions)
        coder.field(11, &requestOptions)
    }
}

struct RunAggregationQueryRequestMessage: WireMessage {
    var parent = ""
    var structuredAggregationQuery: StructuredAggregationQueryMessage?
    var consistency = ConsistencyFields()
    var explainOptions: ExplainOptionsMessage?
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &parent)
        coder.field(2, &structuredAggregationQuery)
        consistency.list(&coder, transaction: 4, newTransaction: 5, readTime: 6)
        coder.field(8, &explainOptions)
        coder.field(9, &requestOptions)
    }
}

struct PartitionQueryRequestMessage: WireMessage {
    var parent = ""
    var structuredQuery: StructuredQueryMessage?
    var partitionCount: Int64 = 0
    var pageToken = ""
    var pageSize: Int32 = 0
    var consistency = ConsistencyFields()
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &parent)
        coder.field(2, &structuredQuery)
        coder.field(3, &partitionCount)
        coder.field(4, &pageToken)
        coder.field(5, &pageSize)
        consistency.list(&coder, readTime: 6)
        coder.field(7, &requestOptions)
    }
}

struct ListCollectionIDsRequestMessage: WireMessage {
    var parent = ""
    var pageSize: Int32 = 0
    var pageToken = ""
    var consistency = ConsistencyFields()
    var requestOptions: RequestOptionsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &parent)
        coder.field(2, &pageSize)
        coder.field(3, &pageToken)
        consistency.list(&coder, readTime: 4)
        coder.field(5, &requestOptions)
    }
}
