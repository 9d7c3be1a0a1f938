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
    /// The next part of an answer that is not finished: its reader has room.
    case proceed(CallID)
    /// A listen stream's reader has no room: what is committed is to wait until it has.
    case hold(CallID)
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
        /// A part of an answer ends here; the core makes the next one when it is told to proceed.
        case unfinished
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
