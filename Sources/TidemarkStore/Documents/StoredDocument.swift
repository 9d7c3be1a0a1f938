package import TidemarkModel

/// A document as the store keeps it. A server stores only ``Kind/found`` documents. A client's
/// cache also records that a document is missing, or exists with unknown contents.
package struct StoredDocument: Hashable, Sendable {
    package enum Kind: Int64, Hashable, Sendable { case found = 0, missing, unknown }

    package var path: DocumentPath
    package var kind: Kind
    /// The contents; empty unless `found`.
    package var contents: EncodedFields
    package var createTime: Timestamp
    /// The version: the commit time, or the time as of which the document was missing.
    package var updateTime: Timestamp
    /// On a client, the last time when the server reported the document; on a server, the update
    /// time.
    package var readTime: Timestamp
    /// On a client, true if an acknowledged mutation has written the document and no listen has
    /// confirmed it yet.
    package var hasCommittedMutations: Bool

    package init(
        path: DocumentPath, kind: Kind, contents: EncodedFields, createTime: Timestamp,
        updateTime: Timestamp, readTime: Timestamp, hasCommittedMutations: Bool = false
    ) {
        self.path = path
        self.kind = kind
        self.contents = contents
        self.createTime = createTime
        self.updateTime = updateTime
        self.readTime = readTime
        self.hasCommittedMutations = hasCommittedMutations
    }

    package init(_ document: Document, readTime: Timestamp) {
        self.init(
            path: document.path, kind: .found, contents: document.contents,
            createTime: document.createTime, updateTime: document.updateTime, readTime: readTime)
    }

    /// The document; nil unless `found`.
    package var document: Document? {
        guard kind == .found else { return nil }
        return Document(
            path: path, contents: contents, createTime: createTime, updateTime: updateTime)
    }
}
