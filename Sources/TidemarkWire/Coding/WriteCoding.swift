import TidemarkModel

/// Encodes and decodes single writes and the messages of a write stream.
struct WriteCoder {
    let names: Names

    init(_ names: Names) { self.names = names }

    func encode(_ mutation: Mutation) -> WriteMessage {
        var write = WriteMessage()
        switch mutation.operation {
        case .set(let fields): write.update = names.encode(mutation.path, fields)
        case .patch(let fields, let mask):
            write.update = names.encode(mutation.path, fields)
            write.updateMask = DocumentMaskMessage(mask)
        case .delete: write.delete = names.name(mutation.path)
        case .verify: write.verify = names.name(mutation.path)
        }
        write.updateTransforms = mutation.transforms.map(FieldTransformMessage.init)
        write.currentDocument = PreconditionMessage(mutation.precondition)
        return write
    }

    func mutations(_ writes: [WriteMessage]) throws(RPCStatus) -> [Mutation] {
        var result: [Mutation] = []
        result.reserveCapacity(writes.count)
        for write in writes { result.append(try mutation(write)) }
        return result
    }

    func mutation(_ write: WriteMessage) throws(RPCStatus) -> Mutation {
        let precondition = try write.currentDocument.decoded()
        var transforms = try Self.transforms(write.updateTransforms)
        let path: DocumentPath
        let operation: Mutation.Operation
        if let document = write.update {
            let (name, fields) = try Names.decodeFields(document)
            path = try names.document(name)
            let mask = try write.updateMask.paths()
            operation = mask.map { .patch(fields, mask: $0) } ?? .set(fields)
        } else if let name = write.delete {
            (path, operation) = (try names.document(name), .delete)
        } else if let name = write.verify {
            (path, operation) = (try names.document(name), .verify)
        } else if let transform = write.transform {
            // The older form, used before `update_transforms`: a write that consists of transforms.
            (path, operation) = (try names.document(transform.document), .patch([:], mask: []))
            transforms = try Self.transforms(transform.fieldTransforms) + transforms
        } else {
            throw .invalidArgument("A write has no operation set.")
        }
        if !transforms.isEmpty, operation == .delete || operation == .verify {
            throw .invalidArgument("Only an update can have transforms.")
        }
        return Mutation(
            path: path, operation, transforms: transforms, precondition: precondition)
    }

    private static func transforms(
        _ wire: [FieldTransformMessage]
    ) throws(RPCStatus) -> [FieldTransform] {
        var result: [FieldTransform] = []
        result.reserveCapacity(wire.count)
        for transform in wire { result.append(try transform.decoded()) }
        return result
    }
}

extension FieldTransformMessage {
    private static let requestTime: Int32 = 1

    init(_ transform: FieldTransform) {
        self.init(fieldPath: transform.field.encoded)
        switch transform.operation {
        case .serverTimestamp: setToServerValue = Self.requestTime
        case .increment(let value): operand = Self.operand(Operand.increment, value)
        case .maximum(let value): operand = Self.operand(Operand.maximum, value)
        case .minimum(let value): operand = Self.operand(Operand.minimum, value)
        case .arrayUnion(let values):
            operand = Self.operand(Operand.appendMissingElements, values)
        case .arrayRemove(let values): operand = Self.operand(Operand.removeAllFromArray, values)
        }
    }

    private static func operand(_ number: UInt64, _ value: Value) -> NumberedBytes {
        NumberedBytes(number: number, bytes: MessageBytes(FieldsCodec.encode(value)))
    }

    private static func operand(_ number: UInt64, _ values: [Value]) -> NumberedBytes {
        NumberedBytes(number: number, bytes: MessageBytes(DocumentCodec.encode(values)))
    }

    func decoded() throws(RPCStatus) -> FieldTransform {
        FieldTransform(try FieldPath(wire: fieldPath), try operation())
    }

    private func operation() throws(RPCStatus) -> FieldTransform.Operation {
        if let setToServerValue {
            guard setToServerValue == Self.requestTime else {
                throw .invalidArgument("A transform sets an unknown server value.")
            }
            return .serverTimestamp
        }
        guard let operand else { throw .invalidArgument("A transform has no kind set.") }
        let bytes = operand.bytes
        switch operand.number {
        case Operand.increment: return .increment(try Value(wire: bytes))
        case Operand.maximum: return .maximum(try Value(wire: bytes))
        case Operand.minimum: return .minimum(try Value(wire: bytes))
        case Operand.appendMissingElements: return .arrayUnion(try Self.array(bytes))
        default: return .arrayRemove(try Self.array(bytes))
        }
    }

    private static func array(_ bytes: MessageBytes) throws(RPCStatus) -> [Value] {
        try parsing { () throws(CodecError) in try DocumentCodec.decodeArray(bytes.array) }
    }
}

extension WriteResultMessage {
    init(_ result: MutationResult) {
        self.init(
            updateTime: result.updateTime?.wire,
            transformResults: result.transformResults.map { MessageBytes(FieldsCodec.encode($0)) })
    }

    func decoded() throws(RPCStatus) -> MutationResult {
        let values = try Value.decoded(transformResults)
        return MutationResult(updateTime: try updateTime.decoded(), transformResults: values)
    }

    static func decode(_ results: [Self]) throws(RPCStatus) -> [MutationResult] {
        var decoded: [MutationResult] = []
        decoded.reserveCapacity(results.count)
        for result in results { decoded.append(try result.decoded()) }
        return decoded
    }
}
