/// The store's own statements. Each is compiled once and kept.
enum OwnSQL: Int, CaseIterable {
    case begin, commit, rollback
    case databaseByName, insertDatabase
    case collectionByKey, insertCollection, collectionByID, collectionsInRange, collectionsOfGroup
    case nextCollectionOfGroup, firstLiveCollection, nextCollectionKey
    case documentVersion, documentFields
    case document, documentState, insertDocument, insertNewDocument, updateDocument
    case deleteDocument, documentByID
    case names, namesReversed, namesAsTheyLie, nameIDs, countNames
    case rowsOfTable, documentsOfTable, lastRow, collectionAtRow, nameAtOffset
    case entries, entriesReversed, entryIDs, countEntries, entryPage, entryPageReversed, entryKeys
    case insertEntry, insertEntries, deleteEntry
    case indexesOfGroup, indexFields, insertIndex, insertIndexField, updateIndexProgress
    case deleteIndex, deleteIndexFields, deleteEntriesOfIndex, unfinishedIndexes, allIndexes
    case countIndexes, namesToIndex, nameByID, documentsToIndex
    case clearEntries, clearDocuments, clearCollections, resetProgress
    case wordIndexOfGroup, wordIndexFields, allWordIndexes, countWordIndexes, insertWordIndex
    case insertWordIndexField, updateWordProgress, deleteWordIndex, deleteWordIndexFields
    case unfinishedWordIndex, documentsForWords, rowsWithWords, insertWords, deleteWords, clearWords
    case refillWords, refillWordsOfOthers, otherCollectionOfGroup

    /// The number of entries per `insertEntries`. One statement per entry took a third of the time
    /// of making an index.
    static let entriesAtOnce = 25

    /// The columns of a ``StoredDocument``, in the order that ``DocumentReader`` expects.
    private static let columns = """
        d.id, d.collection, d.name, d.kind, d.fields, d.createTime, d.updateTime, d.readTime, \
        d.committed
        """
    private static let insertion = """
        INSERT INTO document (collection, name, kind, fields, createTime, updateTime, readTime,
        committed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
    private static let entriesInRange = "fieldIndex = ? AND scope = ? AND key >= ? AND key < ?"
    private static let namesInRange = "collection = ? AND name >= ? AND name < ?"

    var text: String {
        switch self {
        case .begin: "BEGIN"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .databaseByName: "SELECT id FROM database WHERE name = ?"
        case .insertDatabase: "INSERT INTO database (name) VALUES (?)"
        case .collectionByKey: "SELECT id FROM collection WHERE database = ? AND key = ?"
        case .insertCollection:
            "INSERT INTO collection (database, key, path, groupID) VALUES (?, ?, ?, ?)"
        case .collectionByID: "SELECT database, path FROM collection WHERE id = ?"
        case .collectionsInRange:
            "SELECT id FROM collection WHERE database = ? AND key >= ? AND key < ? ORDER BY key"
        case .collectionsOfGroup: "SELECT id FROM collection WHERE database = ? AND groupID = ?"
        case .nextCollectionOfGroup:
            """
            SELECT id FROM collection WHERE database = ? AND groupID = ? AND id > ?
            ORDER BY id LIMIT 1
            """
        case .firstLiveCollection:
            """
            SELECT 1 FROM collection c WHERE database = ? AND key >= ? AND key < ? AND EXISTS
            (SELECT 1 FROM document WHERE collection = c.id AND kind = 0) LIMIT 1
            """
        case .nextCollectionKey:
            """
            SELECT key FROM collection WHERE database = ? AND key >= ? AND key < ?
            ORDER BY key LIMIT 1
            """
        default: documentText
        }
    }

    private var documentText: String {
        switch self {
        case .document:
            "SELECT \(Self.columns) FROM document d WHERE collection = ? AND name = ?"
        case .documentState:
            "SELECT id, kind, fields FROM document WHERE collection = ? AND name = ?"
        case .documentVersion:
            """
            SELECT id, kind, updateTime, committed FROM document WHERE collection = ? AND name = ?
            """
        case .documentFields: "SELECT fields FROM document WHERE id = ?"
        case .documentByID: "SELECT \(Self.columns) FROM document d WHERE id = ?"
        case .insertDocument: Self.insertion
        case .insertNewDocument:
            "\(Self.insertion) ON CONFLICT (collection, name) DO NOTHING"
        case .updateDocument:
            """
            UPDATE document SET kind = ?, fields = ?, createTime = ?, updateTime = ?, readTime = ?,
            committed = ? WHERE id = ?
            """
        case .deleteDocument: "DELETE FROM document WHERE id = ?"
        case .names:
            """
            SELECT \(Self.columns) FROM document d WHERE \(Self.namesInRange) AND kind = 0
            ORDER BY name
            """
        case .namesReversed:
            """
            SELECT \(Self.columns) FROM document d WHERE \(Self.namesInRange) AND kind = 0
            ORDER BY name DESC
            """
        case .namesAsTheyLie:
            // In the order of row numbers, which are found in the index of the names. The limit
            // keeps SQLite from dropping the order as unnecessary.
            """
            SELECT \(Self.columns) FROM
            (SELECT id FROM document WHERE \(Self.namesInRange) ORDER BY id LIMIT -1) n
            CROSS JOIN document d ON d.id = n.id WHERE d.kind = 0
            """
        case .nameIDs:
            "SELECT name FROM document WHERE \(Self.namesInRange) AND kind = 0 ORDER BY name"
        case .countNames:
            """
            SELECT count(*) FROM
            (SELECT 1 FROM document WHERE \(Self.namesInRange) AND kind = 0 LIMIT ?)
            """
        case .rowsOfTable:
            // Rows of every collection, so that no step is longer than one row; and only the first
            // five columns, because the filter rejects most rows by their fields.
            """
            SELECT d.id, d.collection, d.name, d.kind, d.fields FROM document d
            WHERE d.id > ? ORDER BY d.id
            """
        case .documentsOfTable:
            // The same with all columns, for a caller that wants every document.
            """
            SELECT \(Self.columns) FROM document d WHERE d.id > ? ORDER BY d.id
            """
        case .lastRow: "SELECT max(id) FROM document"
        case .collectionAtRow:
            "SELECT collection FROM document WHERE id >= ? ORDER BY id LIMIT 1"
        case .nameAtOffset: "SELECT 1 FROM document WHERE collection = ? LIMIT 1 OFFSET ?"
        case .clearDocuments:
            """
            DELETE FROM document WHERE collection IN
            (SELECT id FROM collection WHERE database = ?)
            """
        case .clearCollections: "DELETE FROM collection WHERE database = ?"
        default: indexText
        }
    }

    private var indexText: String {
        switch self {
        case .entries:
            """
            SELECT \(Self.columns) FROM entry e CROSS JOIN document d ON d.id = e.document
            WHERE \(Self.entriesInRange) ORDER BY key
            """
        case .entriesReversed:
            """
            SELECT \(Self.columns) FROM entry e CROSS JOIN document d ON d.id = e.document
            WHERE \(Self.entriesInRange) ORDER BY key DESC
            """
        case .entryIDs: "SELECT document FROM entry WHERE \(Self.entriesInRange)"
        case .entryPage:
            """
            SELECT \(Self.columns), e.key FROM entry e CROSS JOIN document d ON d.id = e.document
            WHERE \(Self.entriesInRange) ORDER BY key
            """
        case .entryPageReversed:
            """
            SELECT \(Self.columns), e.key FROM entry e CROSS JOIN document d ON d.id = e.document
            WHERE \(Self.entriesInRange) ORDER BY key DESC
            """
        case .entryKeys:
            "SELECT document, key FROM entry WHERE \(Self.entriesInRange) ORDER BY key"
        case .countEntries:
            "SELECT count(*) FROM (SELECT 1 FROM entry WHERE \(Self.entriesInRange) LIMIT ?)"
        case .insertEntry:
            // An index that is partly built already has entries.
            "REPLACE INTO entry (fieldIndex, scope, key, document) VALUES (?, ?, ?, ?)"
        case .insertEntries:
            // Stops at an entry that already exists. To replace it or to undo earlier rows, SQLite
            // would need a journal for each statement.
            "INSERT OR FAIL INTO entry (fieldIndex, scope, key, document) VALUES "
                + (0..<Self.entriesAtOnce).map { "(?1, ?2, ?\(2 * $0 + 3), ?\(2 * $0 + 4))" }
                .joined(separator: ", ")
        case .deleteEntry: "DELETE FROM entry WHERE fieldIndex = ? AND scope = ? AND key = ?"
        case .indexesOfGroup:
            """
            SELECT id, isGroup, nameDescending, isDeclared, isReady, builtCollection, builtName
            FROM fieldIndex WHERE database = ? AND groupID = ? ORDER BY id
            """
        case .indexFields:
            "SELECT path, kind FROM fieldIndexField WHERE fieldIndex = ? ORDER BY position"
        case .insertIndex:
            """
            INSERT INTO fieldIndex (database, groupID, isGroup, nameDescending, isDeclared, isReady,
            builtCollection, builtName) VALUES (?, ?, ?, ?, ?, 0, 0, X'')
            """
        case .insertIndexField:
            "INSERT INTO fieldIndexField (fieldIndex, position, path, kind) VALUES (?, ?, ?, ?)"
        case .updateIndexProgress:
            """
            UPDATE fieldIndex SET isDeclared = ?, isReady = ?, builtCollection = ?, builtName = ?
            WHERE id = ?
            """
        case .deleteIndex: "DELETE FROM fieldIndex WHERE id = ?"
        case .deleteIndexFields: "DELETE FROM fieldIndexField WHERE fieldIndex = ?"
        case .deleteEntriesOfIndex: "DELETE FROM entry WHERE fieldIndex = ?"
        case .unfinishedIndexes:
            "SELECT database, groupID FROM fieldIndex WHERE isReady = 0 ORDER BY id LIMIT 1"
        case .allIndexes: "SELECT DISTINCT groupID FROM fieldIndex WHERE database = ?"
        case .countIndexes:
            """
            SELECT count(*), total(groupID = ?) FROM fieldIndex
            WHERE database = ? AND NOT isDeclared
            """
        case .namesToIndex:
            "SELECT id FROM document WHERE collection = ? AND name > ? ORDER BY name LIMIT ?"
        case .nameByID: "SELECT name FROM document WHERE id = ?"
        case .documentsToIndex:
            """
            SELECT name, fields, id FROM document
            WHERE id BETWEEN ? AND ? AND +collection = ? AND kind = 0
            """
        case .clearEntries:
            "DELETE FROM entry WHERE fieldIndex IN (SELECT id FROM fieldIndex WHERE database = ?)"
        case .resetProgress:
            """
            UPDATE fieldIndex SET builtCollection = 0, builtName = X''
            WHERE database = ? AND isReady = 0
            """
        default: wordText
        }
    }

    private var wordText: String {
        switch self {
        case .wordIndexOfGroup:
            "SELECT id, builtRow, isReady FROM wordIndex WHERE database = ? AND groupID = ?"
        case .wordIndexFields:
            "SELECT path FROM wordIndexField WHERE wordIndex = ? ORDER BY position"
        case .allWordIndexes: "SELECT groupID FROM wordIndex WHERE database = ? ORDER BY id"
        case .countWordIndexes: "SELECT count(*) FROM wordIndex"
        case .otherCollectionOfGroup:
            "SELECT 1 FROM collection WHERE database = ? AND groupID = ? AND id <> ? LIMIT 1"
        case .insertWordIndex:
            "INSERT INTO wordIndex (database, groupID, isReady, builtRow) VALUES (?, ?, 0, 0)"
        case .insertWordIndexField:
            "INSERT INTO wordIndexField (wordIndex, position, path) VALUES (?, ?, ?)"
        case .updateWordProgress: "UPDATE wordIndex SET builtRow = ?, isReady = ? WHERE id = ?"
        case .deleteWordIndex: "DELETE FROM wordIndex WHERE id = ?"
        case .deleteWordIndexFields: "DELETE FROM wordIndexField WHERE wordIndex = ?"
        case .unfinishedWordIndex:
            "SELECT database, groupID FROM wordIndex WHERE isReady = 0 ORDER BY id LIMIT 1"
        case .documentsForWords:
            "SELECT id, collection, kind, fields FROM document WHERE id > ? ORDER BY id LIMIT ?"
        case .rowsWithWords:
            "SELECT rowid FROM word WHERE word MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?"
        case .insertWords: "INSERT INTO word (rowid, words) VALUES (?, ?)"
        case .deleteWords: "INSERT INTO word (word, rowid, words) VALUES ('delete', ?, ?)"
        case .clearWords: "INSERT INTO word (word) VALUES ('delete-all')"
        case .refillWords: "UPDATE wordIndex SET isReady = 0, builtRow = 0"
        case .refillWordsOfOthers:
            "UPDATE wordIndex SET isReady = 0, builtRow = 0 WHERE database <> ?"
        default: preconditionFailure("no text for \(self)")
        }
    }
}
