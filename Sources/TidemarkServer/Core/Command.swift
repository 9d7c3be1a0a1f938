import TidemarkModel

/// The id of a call or a stream while the server runs.
typealias CallID = UInt64

/// An input of the core.
enum Command: Sendable {
    case call(CallID, Request, CallContext)
    case openListen(CallID, CallContext)
    case listen(CallID, ListenRequest)
    case finishListen(CallID)
    case openWrite(CallID, CallContext)
    case write(CallID, WriteRequest)
    case finishWrite(CallID)
    /// The next part of an unfinished answer may be sent: its reader has room.
    case proceed(CallID)
    /// The reader of a listen stream has no room: commits wait until it has.
    case hold(CallID)
    /// The end of a stream, by its client or because too much data waits for it.
    case end(CallID, RPCStatus)
}

/// An output of the core, for the sink of a call or stream.
struct Output: Sendable {
    enum Event: Sendable {
        case reply(Reply)
        case listen(ListenResponse)
        case write(WriteResponse)
        case ended(RPCStatus)
        /// The end of a part of an answer; the core makes the next part after a `proceed`.
        case unfinished
    }

    let id: CallID
    let event: Event
}

extension Request {
    /// True if the request can change documents.
    var isWrite: Bool {
        switch self {
        case .commit, .createDocument, .updateDocument, .deleteDocument, .batchWrite: true
        case .executePipeline(let request): request.isWrite
        case .getDocument, .listDocuments, .batchGetDocuments, .beginTransaction, .rollback,
            .runQuery, .runAggregationQuery, .listCollectionIDs, .partitionQuery:
            false
        }
    }
}
