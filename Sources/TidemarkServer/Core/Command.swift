import TidemarkModel

/// Names a call or a stream for as long as the server runs.
typealias CallID = UInt64

/// What comes into the core.
enum Command: Sendable {
    case call(CallID, Request, CallContext)
    case openListen(CallID, CallContext)
    case listen(CallID, ListenRequest)
    case finishListen(CallID)
    case openWrite(CallID, CallContext)
    case write(CallID, WriteRequest)
    case finishWrite(CallID)
    /// A stream's end by its client, or because it sent more than the server holds for it.
    case end(CallID, RPCStatus)
}

/// What goes out of the core, to the sink of one call or stream.
struct Output: Sendable {
    enum Event: Sendable {
        case reply(Reply)
        case listen(ListenResponse)
        case write(WriteResponse)
        case ended(RPCStatus)
    }

    let id: CallID
    let event: Event
}

extension Request {
    /// Whether it may change documents.
    var isWrite: Bool {
        switch self {
        case .commit, .createDocument, .updateDocument, .deleteDocument, .batchWrite: true
        case .getDocument, .listDocuments, .batchGetDocuments, .beginTransaction, .rollback,
            .runQuery, .runAggregationQuery, .listCollectionIDs, .partitionQuery:
            false
        }
    }
}
