import TidemarkModel

// The approximate memory of waiting commands, in bytes. A small message can be large after
// decoding, so values are counted and not only their contents.

extension Command {
    var size: Int {
        switch self {
        case .call(_, let request, _): 512 + request.size
        case .listen(_, .add(let target, _)): 512 + target.size
        case .write(_, let request): 512 + request.mutations.size
        case .openListen, .listen, .finishListen, .openWrite, .finishWrite, .proceed, .hold,
            .end:
            512
        }
    }
}

extension Request {
    fileprivate var size: Int {
        switch self {
        case .commit(let request): request.mutations.size
        case .batchWrite(let request): request.mutations.size
        case .createDocument(let request): request.fields.size
        case .updateDocument(let request): request.fields.size
        case .batchGetDocuments(let request): request.paths.size
        case .runQuery(let request): request.query.size
        case .runAggregationQuery(let request): request.query.size
        case .partitionQuery(let request): request.query.size
        case .executePipeline(let request): request.size
        case .getDocument, .listDocuments, .deleteDocument, .beginTransaction, .rollback,
            .listCollectionIDs:
            0
        }
    }
}

extension ListenTarget {
    var size: Int {
        switch kind {
        case .query(let query): query.size
        case .documents(let paths): paths.size
        }
    }
}

extension [DocumentPath] {
    fileprivate var size: Int { reduce(0) { $0 + 48 + $1.text.utf8.count } }
}

extension Query {
    fileprivate var size: Int {
        let cursors = [start, end].compactMap { $0 }
        return (filter?.size ?? 0) + orders.count * 64 + (projection?.count ?? 0) * 64
            + cursors.reduce(0) { $0 + $1.values.size }
    }
}

extension ExecutePipelineRequest {
    fileprivate var size: Int {
        options.reduce(0) { $0 + $1.size } + (pipeline?.size ?? 0)
    }
}

extension Pipeline {
    fileprivate var size: Int {
        stages.reduce(32) { total, stage in
            total + 128 + stage.name.utf8.count + stage.arguments.reduce(0) { $0 + $1.size }
                + stage.options.reduce(0) { $0 + $1.size }
        }
    }
}

extension Pipeline.Entry {
    fileprivate var size: Int { 48 + key.utf8.count + value.size }
}

extension Pipeline.Expression {
    /// Every case is behind a reference.
    fileprivate var size: Int {
        switch self {
        case .constant(let value): 48 + value.size
        case .reference(let text), .field(let text), .variable(let text): 64 + text.utf8.count
        case .function(let name, let arguments, let options):
            128 + name.utf8.count + arguments.reduce(0) { $0 + $1.size }
                + options.reduce(0) { $0 + $1.size }
        case .pipeline(let pipeline): 48 + pipeline.size
        case .array(let elements): elements.reduce(80) { $0 + $1.size }
        case .map(let entries): entries.reduce(80) { $0 + $1.size }
        }
    }
}

extension Filter {
    fileprivate var size: Int {
        switch self {
        case .field(_, _, let value): 128 + value.size
        case .unary: 128
        case .and(let filters), .or(let filters): filters.reduce(64) { $0 + $1.size }
        }
    }
}

extension [Mutation] {
    fileprivate var size: Int {
        reduce(0) { total, mutation in
            var size = 256 + mutation.path.text.utf8.count
            switch mutation.operation {
            case .set(let fields): size += fields.size
            case .patch(let fields, let mask): size += fields.size + 64 * mask.count
            case .delete, .verify: break
            }
            for transform in mutation.transforms { size += 128 + transform.operation.size }
            return total + size
        }
    }
}

extension FieldTransform.Operation {
    fileprivate var size: Int {
        switch self {
        case .serverTimestamp: 0
        case .increment(let value), .maximum(let value), .minimum(let value): value.size
        case .arrayUnion(let values), .arrayRemove(let values): values.size
        }
    }
}

extension MapValue {
    fileprivate var size: Int {
        entries.reduce(32) { $0 + 16 + $1.key.utf8.count + $1.value.size }
    }
}

extension [Value] {
    fileprivate var size: Int { reduce(32) { $0 + $1.size } }
}

extension Value {
    /// The value itself takes 24 bytes; larger contents are behind a reference.
    fileprivate var size: Int {
        switch self {
        case .null, .boolean, .integer, .double, .timestamp: 24
        case .pendingServerTimestamp, .geoPoint: 64
        case .string(let text): 24 + text.utf8.count
        case .bytes(let bytes): 56 + bytes.count
        case .reference(let value): 128 + value.path.text.utf8.count
        case .array(let values): 24 + values.size
        case .vector(let vector): 56 + 8 * vector.array.count
        case .map(let fields): 24 + fields.size
        }
    }
}
