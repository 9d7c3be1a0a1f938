public import Tidemark

/// A document that the caller of a pipeline's `plan(of:at:lastUse:isIndexed:)` expects on the
/// server.
public struct ExpectedSourceDocument: Hashable, Sendable {
    public var path: DocumentPath
    /// The fields. They decide to which listeners the document belongs, and are its size.
    public var fields: MapValue
    /// The server's time of the last change.
    public var changedAt: Timestamp
    /// The size of its entry in the index of the pipeline's first conditions, in bytes. It does not
    /// matter in the Standard edition, and for a pipeline without such conditions.
    public var entryBytes: Int

    public init(
        path: DocumentPath, fields: MapValue, changedAt: Timestamp, entryBytes: Int = 0
    ) {
        self.path = path
        self.fields = fields
        self.changedAt = changedAt
        self.entryBytes = entryBytes
    }

    /// A document as it was read; nil if it does not exist.
    ///
    /// - Parameters:
    ///   - snapshot: The document, for example of a server's answer to this or another client.
    ///   - entryBytes: The size of its index entry, in bytes.
    public init?(_ snapshot: DocumentSnapshot, entryBytes: Int = 0) {
        guard let document = snapshot.document, let fields = snapshot.fields else { return nil }
        self.init(
            path: document.path, fields: fields, changedAt: document.updateTime,
            entryBytes: entryBytes)
    }

    /// The document's size in bytes, as Firestore counts it.
    var bytes: Int { Document.storageSize(of: fields, at: path) }
    var row: ExpectedRow { ExpectedRow(documentBytes: bytes, entryBytes: entryBytes) }
}
