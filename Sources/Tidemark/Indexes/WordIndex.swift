import TidemarkStore

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

extension Firestore {
    /// Makes these the only word indexes on this device. Call it at each start, before the first
    /// search. Costs no reads.
    ///
    /// An index that exists stays. A new one is filled with the cache's documents while the client
    /// is idle; until then, a search reads each document of the collection. From then on, the
    /// transaction that stores a document stores its words. Searches look only at the fields of the
    /// index, and see pending writes. The indexes are in the file of the cache, so a cache with a
    /// key encrypts them; the file of a later user gets them too.
    ///
    /// - Parameter indexes: At most one for each collection id; empty to delete all.
    /// - Throws: `invalidArgument` for a wrong or repeated collection id, for a wrong field, and
    ///   beyond ``WordIndex/maxCount`` and ``WordIndex/maxFields``; `unimplemented` if the system's
    ///   SQLite has no full-text search. Nothing has changed then.
    public func setWordIndexes(_ indexes: [WordIndex]) async throws(FirestoreError) {
        if indexes.count > WordIndex.maxCount {
            throw .invalidArgument("There can be at most \(WordIndex.maxCount) word indexes.")
        }
        var definitions: [WordIndexDefinition] = []
        for index in indexes { definitions.append(try index.definition()) }
        let ids = Set(definitions.map { ByteString($0.collectionID) })
        if ids.count < definitions.count {
            throw .invalidArgument("There can be one word index for each collection id.")
        }
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setWordIndexes(definitions) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }
}

extension WordIndex {
    fileprivate func definition() throws(FirestoreError) -> WordIndexDefinition {
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
