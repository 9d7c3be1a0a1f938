public import Foundation
public import Tidemark

extension FileUpload: FileValue {
    package func stage(
        in firestore: Firestore, _ session: UserSession, document: DocumentPath, field: FieldPath
    ) async throws(FirestoreError) -> StagedFile {
        try await firestore.outbox().stage(self, session, document: document, field: field)
    }
}

extension WriteBatch {
    /// Attaches a file to a field of a document. The field becomes a map of `path`, `size`, `type`
    /// and `hash`, the SHA-256 digest in hexadecimal digits.
    ///
    /// The field is set in the last write of this batch to the document. Without one, the field is
    /// merged into the document. The batch needs one of the async forms of `commit` and `enqueue`,
    /// which throw if the file cannot be copied: then nothing was queued, and no copy stays.
    ///
    /// The batch, and every later write to its documents, is sent when the object exists. A
    /// `commit` waits for that.
    @discardableResult
    public func attach(
        _ file: FileUpload, to document: DocumentReference, field: any FieldName
    ) -> WriteBatch {
        attach(file: file, to: document, field: field)
        return self
    }
}

extension WriteBatch {
    /// Deletes a document with the objects that its fields name. The objects are deleted when the
    /// server has acknowledged that the document is deleted; both survive kills. An object that a
    /// write of this device has just replaced there is deleted too.
    ///
    /// The batch needs one of the async forms of `commit` and `enqueue`, which throw
    /// `failedPrecondition` if the document is not in the cache: its objects are not known then.
    ///
    /// - Parameters:
    ///   - document: The document. Collections below it, and files of their documents, stay.
    ///   - fields: The fields with files. A field without one is ignored.
    @discardableResult
    public func deleteDocument(
        _ document: DocumentReference, withFiles fields: [any FieldName]
    ) -> WriteBatch {
        let bucket = Result { () throws(FirestoreError) in
            try firestore.outbox().settings.bucket
        }
        delete(document, files: fields, bucket: bucket)
        return self
    }
}

extension Firestore {
    func outbox() throws(FirestoreError) -> FileOutbox {
        guard let outbox = fileOutbox.object as? FileOutbox else { throw FileOutbox.missing }
        return outbox
    }
}

extension DocumentReference {
    /// Deletes the document with the objects that its fields name, like
    /// `WriteBatch.deleteDocument(_:withFiles:)`. Returns when this is durable on this device.
    public func enqueueDelete(
        withFiles fields: [any FieldName]
    ) async throws(FirestoreError) -> WriteReceipt {
        let batch = firestore.batch()
        batch.deleteDocument(self, withFiles: fields)
        guard let receipt = try await batch.enqueue() else {
            preconditionFailure("a batch with a write has a receipt")
        }
        return receipt
    }

    /// Returns the copy on this device of a file that was attached to a field, until the document
    /// with its object is acknowledged; nil if there is no such copy.
    ///
    /// - Throws: `failedPrecondition` without a ``FileOutbox``; errors of the cache.
    public func file(_ field: any FieldName) async throws(FirestoreError) -> URL? {
        try await firestore.outbox().copy(of: try documentPath(), field: try field.resolved())
    }
}
