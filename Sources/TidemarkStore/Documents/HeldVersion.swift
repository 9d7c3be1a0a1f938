package import TidemarkModel

/// Which version of a document is stored, and in which row: all that is to be known before another one
/// takes its place.
package struct HeldVersion: Hashable, Sendable {
    /// Its row. Another document may get it when this one is removed.
    package let row: Int64
    package let kind: StoredDocument.Kind
    package let updateTime: Timestamp
    package let hasCommittedMutations: Bool
}
