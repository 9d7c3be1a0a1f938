/// The documents that a search on this device looked at.
///
/// A device holds what it has read, so a search can miss documents that only the server has.
public struct SearchedDocuments: Hashable, Sendable {
    /// The path of the collection, or the id of the collections of a group.
    public let collection: String
    /// The fields of the collection's ``WordIndex``; empty if there is none, and the search looked
    /// at all texts.
    public let fields: [String]
    /// True if the word index found the documents. False if each document was read, for example
    /// because the index is not filled yet.
    public let usesIndex: Bool
    /// The last time at which the server confirmed that all documents of the collection are on this
    /// device; nil if it never did, for example because only the newest ones were read.
    public let completeAt: Timestamp?

    package init(
        collection: String, fields: [String], usesIndex: Bool, completeAt: Timestamp?
    ) {
        self.collection = collection
        self.fields = fields
        self.usesIndex = usesIndex
        self.completeAt = completeAt
    }
}
