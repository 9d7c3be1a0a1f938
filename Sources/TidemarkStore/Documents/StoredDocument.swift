package import TidemarkModel

/// A document as the store keeps it. A server only has ``Kind/found`` ones; a client's cache also
/// remembers what it knows to be missing, or to exist with unknown contents.
package struct StoredDocument: Hashable, Sendable {
    package enum Kind: Int64, Hashable, Sendable { case found = 0, missing, unknown }

    package var path: DocumentPath
    package var kind: Kind
    /// Empty unless `found`.
    package var contents: EncodedFields
    package var createTime: Timestamp
    /// The version: when it was committed, or as of when it was missing.
    package var updateTime: Timestamp
    /// When a client last heard of it from the server; on a server, its update time.
    package var readTime: Timestamp
    /// On a client: written by an acknowledged mutation that no listen has confirmed yet.
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

    /// Nil unless it was found.
    package var document: Document? {
        guard kind == .found else { return nil }
        return Document(
            path: path, contents: contents, createTime: createTime, updateTime: updateTime)
    }
}
