import TidemarkModel
import TidemarkStore

// Documents that are sent before their files. Such a write is two batches: the document, which says
// that its file is pending, and a batch that follows the file and completes the field. The rows of
// the files belong to the second batch and name the first one as their parent.
extension FileTable {
    /// Returns the batches that complete the documents of a batch that is not acknowledged.
    func followers(
        of parent: Int64, _ transaction: StoreTransaction
    ) throws -> [Int64] {
        try transaction.rows(
            "SELECT DISTINCT batch FROM syncFile WHERE user = ? AND state = 5 AND parent = ?",
            [.blob(UserKey(user).bytes), .integer(parent)]
        ).map { try $0.integer(0) }
    }

    /// Lets the uploads of an acknowledged batch's files begin.
    func documentIsSent(_ parent: Int64, _ transaction: StoreTransaction) throws {
        try leaveDocument(parent, setting: "state = 0", transaction)
    }

    /// Gives the files to a refused batch, for a retry. No upload has begun, so there is no object.
    func documentIsRejected(_ parent: Int64, _ transaction: StoreTransaction) throws {
        try leaveDocument(parent, setting: "state = 3, batch = parent, parent = 0", transaction)
    }

    /// Ends the files of a batch that the app gave up.
    func documentIsDiscarded(_ parent: Int64, _ transaction: StoreTransaction) throws {
        try leaveDocument(parent, setting: "state = 4", transaction)
    }

    private func leaveDocument(
        _ parent: Int64, setting assignment: String, _ transaction: StoreTransaction
    ) throws {
        try transaction.execute(
            "UPDATE syncFile SET \(assignment) WHERE user = ? AND state = 5 AND parent = ?",
            [.blob(UserKey(user).bytes), .integer(parent)])
    }
}

// Objects of documents that a batch deletes.
extension FileTable {
    /// Returns the objects that the fields name, by the stored documents and by each pending write:
    /// the server may refuse some of the writes.
    func objects(
        in deleted: [DeletedFile], under pending: PendingWrites, of database: DatabaseID,
        _ transaction: StoreTransaction
    ) throws -> [ObjectName] {
        var found: [ObjectName] = []
        for file in deleted {
            let stored = try transaction.documents(of: database).document(at: file.document)
            let values =
                [stored?.contents.decoded[file.field]].compactMap(\.self)
                + pending.values(of: file.field, in: file.document)
            for case .map(let value) in values {
                guard case .string(let name)? = value[FilesAgain.pathKey] else { continue }
                let object = ObjectName(bucket: file.bucket, name: name)
                if !found.contains(object) { found.append(object) }
            }
        }
        return found
    }

    /// Notes objects that must be deleted when a batch is acknowledged.
    func add(
        removals objects: [ObjectName], of batch: Int64, _ transaction: StoreTransaction
    ) throws {
        for object in objects {
            try transaction.execute(
                """
                INSERT INTO syncObjectRemoval (user, bucket, name, batch, document, field)
                VALUES (?, ?, ?, ?, '', X'')
                """,
                [
                    .blob(UserKey(user).bytes), .text(object.bucket), .text(object.name),
                    .integer(batch),
                ])
        }
    }

    /// Notes the fields of the documents that a batch deletes.
    func add(
        deleted: [DeletedFile], of batch: Int64, _ transaction: StoreTransaction
    ) throws {
        for file in deleted {
            try transaction.execute(
                """
                INSERT INTO syncObjectRemoval (user, bucket, name, batch, document, field)
                VALUES (?, ?, '', ?, ?, ?)
                """,
                [
                    .blob(UserKey(user).bytes), .text(file.bucket), .integer(batch),
                    .text(file.document.text), .blob(FieldPathCodec.encode(file.field)),
                ])
        }
    }

    /// Returns the fields of the documents that a batch deletes.
    func deleted(by batch: Int64, _ transaction: StoreTransaction) throws -> [DeletedFile] {
        try transaction.rows(
            """
            SELECT document, field, bucket FROM syncObjectRemoval
            WHERE user = ? AND batch = ? AND name = '' ORDER BY id
            """, [.blob(UserKey(user).bytes), .integer(batch)]
        ).map { row in
            try DeletedFile(
                document: DocumentPath(unchecked: row.text(0)),
                field: FieldPathCodec.decode(row.blob(1)), bucket: row.text(2))
        }
    }

    /// Lets the objects of an acknowledged batch be deleted.
    func removalsAreDue(of batch: Int64, _ transaction: StoreTransaction) throws {
        let arguments: [SQLValue] = [.blob(UserKey(user).bytes), .integer(batch)]
        try transaction.execute(
            "DELETE FROM syncObjectRemoval WHERE user = ? AND batch = ? AND name = ''", arguments)
        try transaction.execute(
            "UPDATE syncObjectRemoval SET batch = 0 WHERE user = ? AND batch = ?", arguments)
    }

    /// Returns the batches whose acknowledgement makes removals due.
    func batchesWithRemovals(_ transaction: StoreTransaction) throws -> Set<Int64> {
        try Set(
            transaction.rows(
                "SELECT DISTINCT batch FROM syncObjectRemoval WHERE user = ? AND batch <> 0",
                [.blob(UserKey(user).bytes)]
            ).map { try $0.integer(0) })
    }
}
