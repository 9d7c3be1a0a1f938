public import Foundation
public import Tidemark

extension FileUpload: FileValue {
    package func stage(
        in firestore: Firestore, _ session: UserSession, document: DocumentPath, field: FieldPath
    ) async throws(FirestoreError) -> StagedFile {
        guard let outbox = firestore.fileOutbox.object as? FileOutbox else {
            throw FileOutbox.missing
        }
        return try await outbox.stage(self, session, document: document, field: field)
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

extension DocumentReference {
    /// Returns the copy on this device of a file that was attached to a field, until the document
    /// with its object is acknowledged; nil if there is no such copy.
    ///
    /// - Throws: `failedPrecondition` without a ``FileOutbox``; errors of the cache.
    public func file(_ field: any FieldName) async throws(FirestoreError) -> URL? {
        guard let outbox = firestore.fileOutbox.object as? FileOutbox else {
            throw FileOutbox.missing
        }
        return try await outbox.copy(of: try documentPath(), field: try field.resolved())
    }
}
