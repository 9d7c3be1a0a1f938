/// An index on this device of the words in some fields, which pipelines on the cache search.
public struct WordIndex: Hashable, Sendable {
    /// The id of the collections, as in `messages` for `rooms/blue/messages` too.
    public let collectionID: String
    /// The fields with texts. A search looks at these alone. Texts inside their arrays and maps
    /// belong to them.
    public let fields: [String]

    /// The maximum number of word indexes.
    public static let maxCount = 20
    /// The maximum number of fields of one.
    public static let maxFields = 10

    public init(collectionID: String, fields: [String]) {
        self.collectionID = collectionID
        self.fields = fields
    }
}

extension WordIndex {
    /// - Throws: `invalidArgument` for a wrong collection id, and for wrong fields.
    func definition() throws(FirestoreError) -> WordIndexDefinition {
        if collectionID.isEmpty || collectionID.utf8.contains(UInt8(ascii: "/")) {
            throw .invalidArgument("\"\(collectionID)\" is no id of a collection.")
        }
        var paths: [FieldPath] = []
        for field in fields {
            let path = try field.resolved()
            if path.isDocumentID { throw .invalidArgument("A document's name has no words.") }
            paths.append(path)
        }
        guard (1...Self.maxFields).contains(paths.count), Set(paths).count == paths.count else {
            throw .invalidArgument(
                """
                The word index of "\(collectionID)" needs 1 to \(Self.maxFields) fields, each once.
                """)
        }
        return WordIndexDefinition(collectionID: collectionID, fields: paths)
    }
}
