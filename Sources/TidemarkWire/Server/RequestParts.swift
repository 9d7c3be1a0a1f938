import TidemarkModel

/// Counts the parts of a request in its bytes, before they are decoded.
///
/// An empty write takes two bytes, but its decoded object takes hundreds. The limits allow every
/// meaningful request: a write names a document, which takes at least 36 bytes.
struct RequestParts {
    /// A message whose fields are counted.
    private enum Kind {
        case writes(field: UInt64), names(field: UInt64), masked(field: UInt64)
        case query(field: UInt64), aggregated, aggregation, target
        case write, transform, mask, structured, filter, composite, queryTarget, documents
        case projection, cursor
        case executePipeline, structuredPipeline, pipeline, call, entry, value, array, map
    }

    /// The kind of a field.
    private enum Part { case other, name, message, few, group(Kind) }

    /// The length below which a request is not counted: it cannot hold enough parts.
    private static let least = 1 << 14
    /// The number of messages, and of names, that every request may have.
    private static let free = 20_000
    /// The maximum number of filters of one query, and of its figures and values of cursors. The
    /// server's own limits are lower.
    private static let maxFilters = 1_000

    private var messages = 0
    private var names = 0
    private var filters = 0
    /// Figures of an aggregation, and values of cursors.
    private var few = 0

    /// - Throws: `INVALID_ARGUMENT` if a request has more parts than its length allows. Malformed
    ///   bytes pass: their decoder reports them.
    static func check(_ method: RPCMethod, _ bytes: [UInt8]) throws(RPCStatus) {
        guard bytes.count >= least, let kind = kind(of: method) else { return }
        var parts = RequestParts()
        let isTooMuch = bytes.withUnsafeBufferPointer { bytes in
            parts.isTooMuch(bytes, kind)
        }
        if isTooMuch {
            throw .invalidArgument("The request has too many parts for its length.")
        }
    }

    private static func kind(of method: RPCMethod) -> Kind? {
        switch method {
        case .commit, .batchWrite: .writes(field: 2)
        case .write: .writes(field: 3)
        case .batchGetDocuments: .names(field: 2)
        case .updateDocument: .masked(field: 2)
        case .runQuery, .partitionQuery: .query(field: 2)
        case .runAggregationQuery: .aggregated
        case .listen: .target
        case .executePipeline: .executePipeline
        default: nil
        }
    }

    private mutating func isTooMuch(_ whole: UnsafeBufferPointer<UInt8>, _ kind: Kind) -> Bool {
        var rest = [(whole, kind)]
        while let (bytes, kind) = rest.popLast() {
            var reader = WireReader(bytes)
            while !reader.isAtEnd, let tag = try? reader.tag() {
                guard tag & 7 == 2 else {
                    guard (try? reader.skip(tag)) != nil else { return false }
                    continue
                }
                guard let content = try? reader.lengthDelimited() else { return false }
                switch Self.part(tag >> 3, of: kind) {
                case .other: continue
                case .name: names += 1
                case .message: messages += 1
                case .few: few += 1
                case .group(let inner):
                    messages += 1
                    if case .filter = inner { filters += 1 }
                    rest.append((content, inner))
                }
                if isOver(whole.count) { return true }
            }
        }
        return false
    }

    private func isOver(_ length: Int) -> Bool {
        messages > Self.free + length / 16 || names > Self.free + length / 8
            || filters > Self.maxFilters || few > Self.maxFilters
    }

    private static func part(_ field: UInt64, of kind: Kind) -> Part {
        switch (kind, field) {
        // The other fields are labels, and what a request has once.
        case (.writes(let writes), _): field == writes ? .group(.write) : .message
        case (.names(let documents), _): field == documents ? .name : .other
        case (.masked(let mask), _): field == mask ? .group(.mask) : .other
        case (.query(let query), _): field == query ? .group(.structured) : .other
        case (.write, 3): .group(.mask)
        case (.write, 6): .group(.transform)
        case (.write, 7): .message
        case (.transform, 2): .message
        case (.mask, 1): .name
        case (.aggregated, 2): .group(.aggregation)
        case (.aggregation, 1): .group(.structured)
        case (.aggregation, 3): .few
        case (.target, 2): .group(.queryTarget)
        // Labels.
        case (.target, 4): .message
        // A target is a message inside the request, so the field numbers below are the target's.
        case (.queryTarget, 2): .group(.query(field: 2))
        case (.queryTarget, 3): .group(.documents)
        case (.documents, 2): .name
        case (.structured, 1): .group(.projection)
        case (.structured, 2), (.structured, 4): .message
        case (.structured, 3): .group(.filter)
        case (.structured, 7), (.structured, 8): .group(.cursor)
        case (.cursor, 1): .few
        case (.projection, 2): .message
        case (.filter, 1): .group(.composite)
        case (.composite, 2): .group(.filter)
        case (.executePipeline, 2): .group(.structuredPipeline)
        case (.structuredPipeline, 1): .group(.pipeline)
        case (.structuredPipeline, 2): .group(.entry)
        case (.pipeline, 1): .group(.call)
        case (.call, 2): .group(.value)
        case (.call, 3): .group(.entry)
        case (.entry, 2): .group(.value)
        case (.value, 6): .group(.map)
        case (.value, 9): .group(.array)
        case (.value, 20): .group(.call)
        case (.value, 21): .group(.pipeline)
        case (.array, 1): .group(.value)
        case (.map, 1): .group(.entry)
        default: .other
        }
    }
}
