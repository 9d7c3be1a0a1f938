package import TidemarkModel

/// A word index of a database.
package struct WordIndexState: Hashable, Sendable {
    package let definition: WordIndexDefinition
    /// True if searches can use the index, because it contains every document.
    package let isReady: Bool
}

/// A stored word index and its filling progress.
struct WordIndex: Equatable {
    let id: Int64
    let definition: WordIndexDefinition
    /// The last row to which an unfinished index is filled.
    var builtRow: Int64
    /// True if every document has its words in the index.
    var isReady: Bool

    /// Words longer than this number of bytes are cut, in the index and in searches.
    static let longestWord = 64
    /// The maximum number of word indexes of one database.
    static let maxPerDatabase = 20

    var state: WordIndexState { WordIndexState(definition: definition, isReady: isReady) }

    /// Returns true if the words of a row belong in the index now. Otherwise the filling reaches
    /// the row later.
    func covers(_ row: Int64) -> Bool {
        #if TIDEMARK_DEFECTS
            if WordDefect.planted == .lastRowNotCovered { return isReady || row < builtRow }
        #endif
        return isReady || row <= builtRow
    }

    /// Returns the text that stands for a document in the index: its words, each once, and the
    /// marks of its collection and of the index. Empty for a document without words.
    func text(of fields: some FieldSource, in collection: CollectionRow) -> String {
        var words: Set<ByteString> = []
        for field in definition.fields {
            guard let value = fields[field] else { continue }
            SearchWords.forEachText(in: value) { text in
                for word in SearchWords.words(of: text) { words.insert(Self.cut(word)) }
            }
        }
        if words.isEmpty { return "" }
        return ([Self.mark(collection), mark] + words.map(\.text)).joined(separator: " ")
    }

    /// A word of all documents of the index. No text contains it, because its first character is
    /// for private use and no letter.
    var mark: String { "\u{E001}\(id)" }
    static func mark(_ collection: CollectionRow) -> String { "\u{E000}\(collection.id)" }

    static func cut(_ word: String) -> ByteString {
        if word.utf8.count <= longestWord { return ByteString(word) }
        var cut = String.UnicodeScalarView()
        var length = 0
        for scalar in word.unicodeScalars {
            length += UTF8.width(scalar)
            if length > longestWord { break }
            cut.append(scalar)
        }
        return ByteString(String(cut))
    }
}

// MARK: - Rows

extension WordIndex {
    static func load(
        group: String, database: Int64, _ connection: Connection
    ) throws(StoreError) -> WordIndex? {
        let statement = try connection.statement(.wordIndexOfGroup)
        defer { statement.release() }
        statement.bind(1, database)
        statement.bind(2, group)
        guard try statement.step() else { return nil }
        let id = statement.integer(0)
        let definition = WordIndexDefinition(
            collectionID: group, fields: try fields(of: id, connection))
        return WordIndex(
            id: id, definition: definition, builtRow: statement.integer(1),
            isReady: statement.integer(2) != 0)
    }

    private static func fields(
        of index: Int64, _ connection: Connection
    ) throws(StoreError) -> [FieldPath] {
        let statement = try connection.statement(.wordIndexFields)
        defer { statement.release() }
        statement.bind(1, index)
        var fields: [FieldPath] = []
        while try statement.step() {
            do throws(InvalidPath) {
                fields.append(try FieldPath(encoded: statement.text(0)))
            } catch { throw .corrupt(detail: error.message) }
        }
        guard !fields.isEmpty, Set(fields).count == fields.count else {
            throw .corrupt(detail: "the fields of word index \(index)")
        }
        return fields
    }

    static func insert(
        _ definition: WordIndexDefinition, database: Int64, _ connection: Connection
    ) throws(StoreError) -> WordIndex {
        let statement = try connection.statement(.insertWordIndex)
        defer { statement.release() }
        statement.bind(1, database)
        statement.bind(2, definition.collectionID)
        try statement.run()
        let id = connection.lastInsertedRowID
        let insert = try connection.statement(.insertWordIndexField)
        defer { insert.release() }
        for (position, field) in definition.fields.enumerated() {
            insert.bind(1, id)
            insert.bind(2, position)
            insert.bind(3, field.encoded)
            try insert.run()
        }
        return WordIndex(id: id, definition: definition, builtRow: 0, isReady: false)
    }

    func saveProgress(_ connection: Connection) throws(StoreError) {
        try connection.run(.updateWordProgress, builtRow, isReady ? 1 : 0, id)
    }
}
