import TidemarkModel

extension Output.Event {
    /// The approximate size in bytes, to bound a turn.
    var size: Int {
        switch self {
        case .reply(.document(let document)): 256 + document.contents.bytes.count
        case .reply(.runQuery(let reply)): 256 + (reply.document?.contents.bytes.count ?? 0)
        case .reply(.batchGetDocuments(let result)):
            if case .found(let document)? = result.row {
                256 + document.contents.bytes.count
            } else {
                256
            }
        case .reply(.listDocuments(let rows, _)):
            rows.reduce(256) { $0 + 256 + ($1.document?.contents.bytes.count ?? 0) }
        case .reply(.executePipeline(let reply)): reply.rows.reduce(256) { $0 + $1.size }
        case .listen(.documentChange(let change)): 256 + change.document.contents.bytes.count
        case .reply, .listen, .write, .ended, .unfinished: 256
        }
    }
}
