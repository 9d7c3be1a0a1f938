import TidemarkModel
import TidemarkStore

/// Writes of a single document whose reply is the document.
struct DocumentWrites {
    let randomBits: @Sendable () -> UInt64

    func create(
        _ request: CreateDocumentRequest, context: CallContext, commits: inout CommitStage
    ) throws -> Reply {
        try request.mask?.validateAsMask()
        let id = request.documentID ?? DocumentNaming.makeID(randomBits)
        let path: DocumentPath
        do throws(InvalidPath) { path = try request.collection.document(id) } catch {
            throw RPCStatus(error)
        }
        let mutation = Mutation(
            path: path, .set(request.fields), precondition: .exists(false))
        _ = try commits.commit([mutation], context)
        return .document(
            try written(path, mask: request.mask, database: context.database, commits: commits))
    }

    func update(
        _ request: UpdateDocumentRequest, context: CallContext, commits: inout CommitStage
    ) throws -> Reply {
        try request.mask?.validateAsMask()
        let operation: Mutation.Operation =
            request.updateMask.map { .patch(request.fields, mask: $0) } ?? .set(request.fields)
        let mutation = Mutation(
            path: request.path, operation, precondition: request.precondition)
        _ = try commits.commit([mutation], context)
        return .document(
            try written(
                request.path, mask: request.mask, database: context.database, commits: commits))
    }

    /// Returns the document after the previous commit.
    private func written(
        _ path: DocumentPath, mask: [FieldPath]?, database: DatabaseID,
        commits: CommitStage
    ) throws -> Document {
        let stored = try commits.transaction?.documents(of: database).document(at: path)?.document
        guard let document = stored else {
            throw RPCStatus(.internal, "A document that was written is missing.")
        }
        return document.projected(to: mask)
    }
}

enum DocumentNaming {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// Returns 20 letters and digits, in the form of Firestore's clients.
    static func makeID(_ randomBits: () -> UInt64) -> String {
        var bytes: [UInt8] = []
        while bytes.count < 20 {
            var bits = randomBits()
            // Each number gives ten six-bit values. Values past the alphabet are dropped, so no
            // character is more frequent.
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
    /// Returns the document with only the masked fields; the unchanged document for a nil mask.
    func projected(to mask: [FieldPath]?) -> Document {
        guard let mask else { return self }
        return Document(
            path: path, fields: fields.projected(to: mask), createTime: createTime,
            updateTime: updateTime)
    }
}
