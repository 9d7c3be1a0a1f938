package import TidemarkModel

/// The stored version of a document and its row: everything needed to replace the document.
package struct HeldVersion: Hashable, Sendable {
    /// The row. Another document can reuse it after this one is removed.
    package let row: Int64
    package let kind: StoredDocument.Kind
    package let updateTime: Timestamp
    package let hasCommittedMutations: Bool
}
