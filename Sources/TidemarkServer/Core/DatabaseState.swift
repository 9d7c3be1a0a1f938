import TidemarkModel
import TidemarkStore

/// What the server keeps in mind of one database: its clock and how far back its log goes. All times
/// in microseconds since 1970, as versions are counted.
struct DatabaseState {
    /// Databases are made by whoever names them; this many at most.
    static let capacity = 10_000

    /// The key of its row; nil until its first commit.
    var rowID: Int64?
    /// The last commit's time; 0 before the first.
    var lastCommit: Int64 = 0
    /// The latest time that a commit or a reader was told: later commits come after it.
    var lastSeen: Int64 = 0
    /// Changes after this time are in the log, all of them.
    var logStart: Int64 = 0

    /// A time for a commit: the clock's, or just after all that went before when the clock is behind.
    mutating func takeCommitTime(now: Timestamp) -> Int64 {
        lastCommit = max(now.microseconds, lastSeen + 1)
        lastSeen = lastCommit
        return lastCommit
    }

    /// What readers were told ends here, because the clock was set back by hand.
    mutating func forgetReaders(after now: Timestamp) {
        lastSeen = max(lastCommit, min(lastSeen, now.microseconds))
    }

    /// A time for a reader: no earlier than any version, and no later commit will come before it.
    mutating func takeReadTime(now: Timestamp) -> Timestamp {
        lastSeen = max(now.microseconds, lastSeen)
        return Timestamp(microseconds: lastSeen)
    }
}

/// The server's own tables, beside the store's. Append only: a released step is never edited.
enum ServerSchema {
    static let migrations = [
        StoreMigration("server 1", sql: tables),
        StoreMigration("server 2", sql: WriteStreamTable.schema),
        StoreMigration("server 3", sql: removals),
    ]

    /// One row of `change` says what a document was before a commit changed it: all three `previous`
    /// columns are null where it did not exist.
    private static let tables = """
        CREATE TABLE serverIdentity (incarnation INTEGER NOT NULL) STRICT;
        CREATE TABLE serverDatabase (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            lastCommit INTEGER NOT NULL,
            logStart INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE change (
            id INTEGER PRIMARY KEY,
            database INTEGER NOT NULL,
            commitTime INTEGER NOT NULL,
            path TEXT NOT NULL,
            previousCreateTime INTEGER,
            previousUpdateTime INTEGER,
            previousFields BLOB
        ) STRICT;
        CREATE INDEX changeByTime ON change (database, commitTime, path);
        CREATE INDEX changeByPath ON change (database, path, commitTime);
        """

    /// Of the rows before, some say that a document was removed where it was not: they are looked at for
    /// nothing, until the log has left them behind.
    private static let removals = """
        DROP INDEX changeByPath;
        ALTER TABLE change ADD COLUMN removed INTEGER NOT NULL DEFAULT 1;
        CREATE INDEX removalByPath ON change (database, path, commitTime) WHERE removed = 1;
        """
}
