import TidemarkStore

/// The tables of the objects, in a file of their own. The list only grows: a released step is never
/// edited.
///
/// Times are in microseconds since 1970. Names are bytes, whose order is the order of lists.
enum ObjectsSchema {
    static let migrations = [StoreMigration("objects 1", sql: tables)]

    private static let tables = """
        CREATE TABLE bucket (
            name TEXT PRIMARY KEY,
            createdAt INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE object (
            id INTEGER PRIMARY KEY,
            bucket TEXT NOT NULL,
            name BLOB NOT NULL,
            generation INTEGER NOT NULL,
            metageneration INTEGER NOT NULL,
            blob TEXT NOT NULL,        -- the file's name; copies of an object share it
            size INTEGER NOT NULL,
            md5 BLOB,                  -- NULL for a composed object
            crc32c INTEGER NOT NULL,
            components INTEGER,
            createdAt INTEGER NOT NULL,
            updatedAt INTEGER NOT NULL,
            fields TEXT NOT NULL,      -- JSON
            tokens TEXT NOT NULL,      -- separated by commas
            uploader TEXT
        ) STRICT;
        CREATE UNIQUE INDEX objectByName ON object (bucket, name);
        CREATE INDEX objectByBlob ON object (blob);

        CREATE TABLE upload (
            key BLOB PRIMARY KEY,      -- the digest of the upload's id, never the id
            dialect INTEGER NOT NULL,
            blob TEXT NOT NULL,
            declared INTEGER,
            received INTEGER NOT NULL,
            phase INTEGER NOT NULL,    -- 0 active, 1 final, 2 refused, 3 cancelled
            generation INTEGER,        -- of a final upload
            refusal TEXT,              -- JSON, of a refused upload
            startedAt INTEGER NOT NULL,
            updatedAt INTEGER NOT NULL,
            plan TEXT NOT NULL         -- JSON
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX uploadByTime ON upload (startedAt);

        CREATE TABLE clock (
            id INTEGER PRIMARY KEY,
            generation INTEGER NOT NULL  -- the last one; generations are never used twice
        ) STRICT;
        """
}
