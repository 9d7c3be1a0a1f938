extension StoreMigration {
    /// The store's schema steps that were ever released, oldest first. Append only.
    static let ofStore = [
        StoreMigration("store 1", sql: documents), StoreMigration("store 2", sql: wordIndexes),
    ]

    /// The tables:
    /// - A name or key is written by ``KeyWriter``: its bytes sort in Firestore's order.
    /// - `kind` is ``StoredDocument/Kind``; times are microseconds since 1970.
    /// - `entry.scope` is the document's collection, or 0 in an index over a collection group.
    private static let documents = """
        CREATE TABLE database (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

        CREATE TABLE collection (
            id INTEGER PRIMARY KEY,
            database INTEGER NOT NULL,
            key BLOB NOT NULL,
            path TEXT NOT NULL,
            groupID TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX collectionByKey ON collection (database, key);
        CREATE INDEX collectionByGroup ON collection (database, groupID);

        CREATE TABLE document (
            id INTEGER PRIMARY KEY,
            collection INTEGER NOT NULL,
            name BLOB NOT NULL,
            kind INTEGER NOT NULL,
            createTime INTEGER NOT NULL,
            updateTime INTEGER NOT NULL,
            readTime INTEGER NOT NULL,
            committed INTEGER NOT NULL,
            fields BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX documentByName ON document (collection, name);

        CREATE TABLE fieldIndex (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            groupID TEXT NOT NULL,
            isGroup INTEGER NOT NULL,
            nameDescending INTEGER NOT NULL,
            isDeclared INTEGER NOT NULL,
            isReady INTEGER NOT NULL,
            builtCollection INTEGER NOT NULL,  -- while it is not ready: how far it is filled
            builtName BLOB NOT NULL
        ) STRICT;
        CREATE INDEX fieldIndexByGroup ON fieldIndex (database, groupID);

        CREATE TABLE fieldIndexField (
            fieldIndex INTEGER NOT NULL,
            position INTEGER NOT NULL,
            path TEXT NOT NULL,
            kind INTEGER NOT NULL,  -- 0 ascending, 1 descending, 2 elements of an array
            PRIMARY KEY (fieldIndex, position)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE entry (
            fieldIndex INTEGER NOT NULL,
            scope INTEGER NOT NULL,
            key BLOB NOT NULL,
            document INTEGER NOT NULL,
            PRIMARY KEY (fieldIndex, scope, key)
        ) STRICT, WITHOUT ROWID;
        """

    /// The table of the words themselves is made by the first word index: ``DeclaredWords``.
    private static let wordIndexes = """
        CREATE TABLE wordIndex (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            groupID TEXT NOT NULL,
            isReady INTEGER NOT NULL,
            builtRow INTEGER NOT NULL  -- while it is not ready: the last row that is filled
        ) STRICT;
        CREATE UNIQUE INDEX wordIndexByGroup ON wordIndex (database, groupID);

        CREATE TABLE wordIndexField (
            wordIndex INTEGER NOT NULL,
            position INTEGER NOT NULL,
            path TEXT NOT NULL,
            PRIMARY KEY (wordIndex, position)
        ) STRICT, WITHOUT ROWID;
        """
}
