import Foundation
import TidemarkModel

/// Encodes and decodes single writes and the messages of a write stream.
struct WriteCoder {
    let names: Names

    init(_ names: Names) { self.names = names }

    func encode(_ mutation: Mutation) -> PBWrite {
        var write = PBWrite()
        switch mutation.operation {
        case .set(let fields): write.update = names.encode(mutation.path, fields)
        case .patch(let fields, let mask):
            write.update = names.encode(mutation.path, fields)
            write.updateMask = PBDocumentMask(mask)
        case .delete: write.delete = names.name(mutation.path)
        case .verify: write.verify = names.name(mutation.path)
        }
        write.updateTransforms = mutation.transforms.map(PBDocumentTransform.FieldTransform.init)
        if let precondition = PBPrecondition(mutation.precondition) {
            write.currentDocument = precondition
        }
        return write
    }

    func mutations(_ writes: [PBWrite]) throws(RPCStatus) -> [Mutation] {
        var result: [Mutation] = []
        result.reserveCapacity(writes.count)
        for write in writes { result.append(try mutation(write)) }
        return result
    }

    func mutation(_ write: PBWrite) throws(RPCStatus) -> Mutation {
        let precondition = try write.currentDocument.decoded()
        var transforms = try Self.transforms(write.updateTransforms)
        let path: DocumentPath
        let operation: Mutation.Operation
        switch write.operation {
        case nil: throw .invalidArgument("A write has no operation set.")
        case .update(let data):
            let (name, fields) = try Names.decodeFields(data)
            path = try names.document(name)
            operation =
                write.hasUpdateMask
                ? .patch(fields, mask: try write.updateMask.paths()) : .set(fields)
        case .delete(let name):
            (path, operation) = (try names.document(name), .delete)
        case .verify(let name):
            (path, operation) = (try names.document(name), .verify)
        case .transform(let transform):
            // The older form, used before `update_transforms`: a write that consists of transforms.
            (path, operation) = (try names.document(transform.document), .patch([:], mask: []))
            transforms = try Self.transforms(transform.fieldTransforms) + transforms
        }
        if !transforms.isEmpty, operation == .delete || operation == .verify {
            throw .invalidArgument("Only an update can have transforms.")
        }
        return Mutation(
            path: path, operation, transforms: transforms, precondition: precondition)
    }

    private static func transforms(
        _ wire: [PBDocumentTransform.FieldTransform]
    ) throws(RPCStatus) -> [FieldTransform] {
        var result: [FieldTransform] = []
        result.reserveCapacity(wire.count)
        for transform in wire { result.append(try transform.decoded()) }
        return result
    }
}

extension PBDocumentTransform.FieldTransform {
    init(_ transform: FieldTransform) {
        self.init()
        fieldPath = transform.field.encoded
        switch transform.operation {
        case .serverTimestamp: setToServerValue = .requestTime
        case .increment(let value): increment = Data(FieldsCodec.encode(value))
        case .maximum(let value): maximum = Data(FieldsCodec.encode(value))
        case .minimum(let value): minimum = Data(FieldsCodec.encode(value))
        case .arrayUnion(let values): appendMissingElements = Data(DocumentCodec.encode(values))
        case .arrayRemove(let values): removeAllFromArray = Data(DocumentCodec.encode(values))
        }
    }

    func decoded() throws(RPCStatus) -> FieldTransform {
        FieldTransform(try FieldPath(wire: fieldPath), try operation())
    }

    private func operation() throws(RPCStatus) -> FieldTransform.Operation {
        switch transformType {
        case nil: throw .invalidArgument("A transform has no kind set.")
        case .setToServerValue(.requestTime): .serverTimestamp
        case .setToServerValue: throw .invalidArgument("A transform sets an unknown server value.")
        case .increment(let value): .increment(try Value(wire: value))
        case .maximum(let value): .maximum(try Value(wire: value))
        case .minimum(let value): .minimum(try Value(wire: value))
        case .appendMissingElements(let values): .arrayUnion(try Self.array(values))
        case .removeAllFromArray(let values): .arrayRemove(try Self.array(values))
        }
    }

    private static func array(_ data: Data) throws(RPCStatus) -> [Value] {
        try parsing { () throws(CodecError) in try DocumentCodec.decodeArray(data.array) }
    }
}

extension PBWriteResult {
    init(_ result: MutationResult) {
        self.init()
        if let time = result.updateTime { updateTime = time.wire }
        transformResults = result.transformResults.map { Data(FieldsCodec.encode($0)) }
    }

    func decoded() throws(RPCStatus) -> MutationResult {
        var values: [Value] = []
        for value in transformResults { values.append(try Value(wire: value)) }
        let time = hasUpdateTime ? try Timestamp(wire: updateTime) : nil
        return MutationResult(updateTime: time, transformResults: values)
    }

    static func decode(_ results: [PBWriteResult]) throws(RPCStatus) -> [MutationResult] {
        var decoded: [MutationResult] = []
        decoded.reserveCapacity(results.count)
        for result in results { decoded.append(try result.decoded()) }
        return decoded
    }
}
