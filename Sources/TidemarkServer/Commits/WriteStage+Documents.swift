import TidemarkModel
import TidemarkStore

extension WriteStage {
    func create(_ request: CreateDocumentRequest, _ context: CallContext) throws -> Reply {
        try request.mask?.validateAsMask()
        let id = request.documentID ?? DocumentNaming.makeID(core.environment.randomBits)
        let path: DocumentPath
        do throws(InvalidPath) { path = try request.collection.document(id) } catch {
            throw RPCStatus(error)
        }
        let mutation = Mutation(
            path: path, .set(request.fields), precondition: .exists(false))
        _ = try commit([mutation], context)
        return .document(try written(path, request.mask, context.database))
    }

    func update(_ request: UpdateDocumentRequest, _ context: CallContext) throws -> Reply {
        try request.mask?.validateAsMask()
        let operation: Mutation.Operation =
            request.updateMask.map { .patch(request.fields, mask: $0) } ?? .set(request.fields)
        let mutation = Mutation(
            path: request.path, operation, precondition: request.precondition)
        _ = try commit([mutation], context)
        return .document(try written(request.path, request.mask, context.database))
    }

    /// The document as the commit before left it.
    private func written(
        _ path: DocumentPath, _ mask: [FieldPath]?, _ database: DatabaseID
    ) throws -> Document {
        let stored = try transaction?.documents(of: database).document(at: path)?.document
        guard let document = stored else {
            throw RPCStatus(.internal, "A document that was written is missing.")
        }
        return document.projected(to: mask)
    }

    /// Each write by itself, as far as they can be done. The answer comes when all of them are
    /// settled: those that wait for locks keep none of the others.
    ///
    /// - Throws: ``RPCStatus`` when nothing of it is done; ``StoreError``.
    func batchWrite(
        _ id: CallID, _ request: BatchWriteRequest, _ context: CallContext
    ) throws {
        if Set(request.mutations.map(\.path)).count < request.mutations.count {
            throw RPCStatus.invalidArgument(
                "BatchWrite does not allow writing to the same document more than once.")
        }
        let firstBill = bills.count
        var results: [BatchWriteResult?] = []
        results.reserveCapacity(request.mutations.count)
        for (index, mutation) in request.mutations.enumerated() {
            do {
                results.append(try write(mutation, context))
            } catch let wait as LockWait {
                park(wait, .item(id, index, mutation, context))
                results.append(nil)
            }
        }
        let known = results.compactMap { $0 }
        let usage = usage(since: firstBill)
        if !known.isEmpty || results.isEmpty { tried.insert(id) }
        if known.count < results.count {
            core.parked.add(.init(context: context, results: results, usage: usage), of: id)
        } else {
            outputs.append(id, .batchWrite(known))
            outputs.append(
                Output(id: id, event: .ended(RPCStatus.ok.reporting(usage, to: context))))
        }
    }

    /// One write of a batch write.
    ///
    /// - Throws: ``LockWait``, ``StoreError``; a refusal is a result.
    func write(_ mutation: Mutation, _ context: CallContext) throws -> BatchWriteResult {
        do {
            let reply = try commit([mutation], context)
            return BatchWriteResult(status: .ok, result: reply.results[0])
        } catch let status as RPCStatus {
            return BatchWriteResult(status: status, result: MutationResult(updateTime: nil))
        }
    }
}

enum DocumentNaming {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// 20 letters and digits, as Firestore's clients make them.
    static func makeID(_ randomBits: () -> UInt64) -> String {
        var bytes: [UInt8] = []
        while bytes.count < 20 {
            var bits = randomBits()
            // Ten six-bit numbers of each; those past the alphabet are dropped, so none is favoured.
            for _ in 0..<10 where bytes.count < 20 {
                let index = Int(bits & 63)
                bits >>= 6
                if index < alphabet.count { bytes.append(alphabet[index]) }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Document {
    /// The document with only the masked fields; the very same for a nil mask.
    func projected(to mask: [FieldPath]?) -> Document {
        guard let mask else { return self }
        return Document(
            path: path, fields: fields.projected(to: mask), createTime: createTime,
            updateTime: updateTime)
    }
}
