import TidemarkStore

/// The tables of the cache besides the documents. The list is append only: a released step is never
/// edited.
enum LocalSchema {
    static let migrations = [
        StoreMigration(
            "sync 1",
            sql: """
                CREATE TABLE syncTarget (
                    id INTEGER PRIMARY KEY,
                    -- The query as the server is asked it.
                    canonical BLOB NOT NULL UNIQUE,
                    token BLOB NOT NULL,
                    -- Of the token, in microseconds since 1970.
                    snapshotVersion INTEGER NOT NULL,
                    -- When the server last confirmed the whole result, 0 for never.
                    confirmed INTEGER NOT NULL,
                    -- Of its last use, rising.
                    sequence INTEGER NOT NULL
                );
                CREATE TABLE syncTargetDocument (
                    target INTEGER NOT NULL,
                    path TEXT NOT NULL,
                    PRIMARY KEY (target, path)
                ) WITHOUT ROWID;
                CREATE TABLE syncBatch (
                    -- Never reused: the server may know it.
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    localWriteTime INTEGER NOT NULL,
                    baseMutations BLOB NOT NULL,
                    mutations BLOB NOT NULL
                );
                CREATE TABLE syncRecord (
                    key TEXT PRIMARY KEY,
                    value BLOB NOT NULL
                ) WITHOUT ROWID;
                CREATE TABLE syncGlobal (
                    name TEXT PRIMARY KEY,
                    value INTEGER NOT NULL
                ) WITHOUT ROWID;
                """),
        StoreMigration(
            "sync 2",
            sql: """
                -- Where the write stream can be taken up again; no row, or one.
                CREATE TABLE syncWritePosition (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    stream TEXT NOT NULL,
                    token BLOB NOT NULL
                );
                """),
        StoreMigration(
            "sync 3",
            sql: """
                -- Whose batch it is, where users share a cache: the bytes of the id, empty for nobody.
                ALTER TABLE syncBatch ADD COLUMN user BLOB NOT NULL DEFAULT X'';

                -- Documents that perhaps no target holds, by when they were last used.
                CREATE TABLE syncLoose (
                    path TEXT PRIMARY KEY,
                    sequence INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE INDEX syncLooseBySequence ON syncLoose (sequence);
                CREATE INDEX syncTargetBySequence ON syncTarget (sequence);
                CREATE INDEX syncTargetDocumentByPath ON syncTargetDocument (path);
                -- Targets that are gone, and whose rows are not yet.
                CREATE TABLE syncCondemned (
                    target INTEGER PRIMARY KEY,
                    sequence INTEGER NOT NULL
                );
                -- Batches that the server refused, or that cannot be read.
                CREATE TABLE syncRejected (
                    id INTEGER PRIMARY KEY,
                    user BLOB NOT NULL,
                    localWriteTime INTEGER NOT NULL,
                    mutations BLOB NOT NULL,
                    code INTEGER NOT NULL,
                    message TEXT NOT NULL,
                    rejectedAt INTEGER NOT NULL
                );
                CREATE TABLE syncBundle (
                    id BLOB PRIMARY KEY,
                    createTime INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE TABLE syncNamedQuery (
                    name BLOB PRIMARY KEY,
                    -- As its bundle had it.
                    source BLOB NOT NULL
                ) WITHOUT ROWID;
                -- Collections that stay: by path, or empty and the id of all that have it.
                CREATE TABLE syncKept (
                    collection TEXT NOT NULL,
                    id TEXT NOT NULL,
                    PRIMARY KEY (collection, id)
                ) WITHOUT ROWID;
                """),
        StoreMigration(
            "sync 4",
            sql: """
                -- The rows of a target by the documents' own rows: those of new documents follow each
                -- other, where names would fall all over the table.
                CREATE TABLE syncTargetRow (
                    target INTEGER NOT NULL,
                    document INTEGER NOT NULL,
                    PRIMARY KEY (target, document)
                ) WITHOUT ROWID;
                CREATE INDEX syncTargetRowByDocument ON syncTargetRow (document);
                -- What was known by names is asked of the server once more.
                DROP TABLE syncTargetDocument;
                UPDATE syncTarget SET token = X'', snapshotVersion = 0;
                DELETE FROM syncCondemned;
                """),
        StoreMigration(
            "sync 5 reads",
            sql: """
                -- What was billed, by day: of the last ones.
                CREATE TABLE syncRead (
                    day INTEGER NOT NULL,
                    label TEXT NOT NULL,
                    screen TEXT NOT NULL,
                    cause TEXT NOT NULL,
                    reads INTEGER NOT NULL,
                    -- Answers that did not tell all of their price.
                    lowerBounds INTEGER NOT NULL,
                    PRIMARY KEY (day, label, screen, cause)
                ) WITHOUT ROWID;
                """),
        StoreMigration(
            "sync 6 positions",
            sql: """
                -- Where each user's write stream can be taken up again: the answers that are still to
                -- come are to that user's batches.
                CREATE TABLE syncStreamPosition (
                    user BLOB PRIMARY KEY,
                    stream TEXT NOT NULL,
                    token BLOB NOT NULL
                ) WITHOUT ROWID;
                -- Of several users nobody knows whose it was.
                INSERT INTO syncStreamPosition
                    SELECT (SELECT user FROM syncBatch LIMIT 1), stream, token
                    FROM syncWritePosition
                    WHERE (SELECT count(DISTINCT user) FROM syncBatch) = 1;
                DROP TABLE syncWritePosition;
                """),
        StoreMigration(
            "sync 7 batch numbers",
            sql: """
                -- SQLite's own sequence was looked up with every write, though numbers are taken from it
                -- many at a time. The last that was taken stands among the globals.
                INSERT INTO syncGlobal
                    SELECT 'lastBatch', seq FROM sqlite_sequence WHERE name = 'syncBatch';
                CREATE TABLE syncQueue (
                    -- Never reused: the server may know it.
                    id INTEGER PRIMARY KEY,
                    user BLOB NOT NULL,
                    localWriteTime INTEGER NOT NULL,
                    baseMutations BLOB NOT NULL,
                    mutations BLOB NOT NULL
                );
                INSERT INTO syncQueue
                    SELECT id, user, localWriteTime, baseMutations, mutations FROM syncBatch;
                DROP TABLE syncBatch;
                ALTER TABLE syncQueue RENAME TO syncBatch;
                """),
        StoreMigration(
            "sync 8 processes",
            sql: """
                -- Batches that other processes left for the one that holds the cache, by their names: each is
                -- queued once. Of the last ones.
                CREATE TABLE syncShared (
                    name TEXT PRIMARY KEY,
                    batch INTEGER NOT NULL
                ) WITHOUT ROWID;
                -- When batches were committed, where somebody may ask who was not there. Of the last ones.
                CREATE TABLE syncDone (
                    batch INTEGER PRIMARY KEY,
                    commitTime INTEGER NOT NULL
                );
                """),
        StoreMigration(
            "sync 9 files",
            sql: """
                -- Files that belong to batches. The state is a number of QueuedFile.State.
                CREATE TABLE syncFile (
                    -- Never reused, as a late answer names it.
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    user BLOB NOT NULL,
                    batch INTEGER NOT NULL,
                    state INTEGER NOT NULL,
                    document TEXT NOT NULL,
                    field BLOB NOT NULL,
                    -- The object that the file becomes.
                    bucket TEXT NOT NULL,
                    name TEXT NOT NULL,
                    size INTEGER NOT NULL,
                    -- In the form of the outbox: what the file is, and how far its upload is.
                    facts BLOB NOT NULL,
                    upload BLOB NOT NULL
                );
                CREATE INDEX syncFileByBatch ON syncFile (batch);
                CREATE INDEX syncFileByState ON syncFile (user, state);
                CREATE INDEX syncFileByDocument ON syncFile (document, field);
                -- Objects to delete, because their documents were refused or given up.
                CREATE TABLE syncObjectRemoval (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    user BLOB NOT NULL,
                    bucket TEXT NOT NULL,
                    name TEXT NOT NULL
                );
                -- The order of sending of batches that waited: -1 with files that wait, 0 behind such a
                -- batch, else after all smaller turns. Other batches have their number as their turn.
                CREATE TABLE syncTurn (
                    batch INTEGER PRIMARY KEY,
                    turn INTEGER NOT NULL
                );
                """),
        StoreMigration(
            "sync 10 order of files",
            sql: """
                -- The write that follows the file, and the batch of the document that is sent first;
                -- empty and 0 if the file is sent first.
                ALTER TABLE syncFile ADD COLUMN completion BLOB NOT NULL DEFAULT X'';
                ALTER TABLE syncFile ADD COLUMN parent INTEGER NOT NULL DEFAULT 0;
                -- An object of a batch that deletes its document is due when the batch is
                -- acknowledged; all others, with 0, are due.
                ALTER TABLE syncObjectRemoval ADD COLUMN batch INTEGER NOT NULL DEFAULT 0;
                -- The field of a deleted document, in a row without a name: another attempt of a
                -- refused deletion looks for its objects again.
                ALTER TABLE syncObjectRemoval ADD COLUMN document TEXT NOT NULL DEFAULT '';
                ALTER TABLE syncObjectRemoval ADD COLUMN field BLOB NOT NULL DEFAULT X'';
                """),
        StoreMigration(
            "sync 11 networks of files",
            sql: """
                -- The networks on which a file may be sent, as bits of NetworkRules; 0 for all.
                ALTER TABLE syncFile ADD COLUMN networkRules INTEGER NOT NULL DEFAULT 0;
                """),
        StoreMigration(
            "sync 12 states of files",
            sql: """
                -- The start of a long queue reads the states of its files, and the index answers
                -- without the rows.
                DROP INDEX syncFileByBatch;
                CREATE INDEX syncFileByBatch ON syncFile (user, batch, state);
                """),
    ]
}
