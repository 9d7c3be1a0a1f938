import TidemarkModel
import TidemarkStore

/// The server's state of a database in memory: its clock and the start of its log. All times are in
/// microseconds since 1970, like versions.
struct DatabaseState {
    /// The maximum number of databases. A caller creates a database by naming it.
    static let capacity = 10_000

    /// The key of the database's row; nil until its first commit.
    var rowID: Int64?
    /// The last commit's time; 0 before the first.
    var lastCommit: Int64 = 0
    /// The latest time that a commit or a reader has received: later commits come after it.
    var lastSeen: Int64 = 0
    /// The log contains all changes after this time.
    var logStart: Int64 = 0

    /// Returns a time for a commit: the clock's time, or the instant after all earlier times if the
    /// clock is behind.
    mutating func takeCommitTime(now: Timestamp) -> Int64 {
        lastCommit = max(now.microseconds, lastSeen + 1)
        lastSeen = lastCommit
        return lastCommit
    }

    /// Forgets the later read times, because the clock was set back by hand.
    mutating func forgetReaders(after now: Timestamp) {
        lastSeen = max(lastCommit, min(lastSeen, now.microseconds))
    }

    /// Returns a time for a reader: at or after every version, and before every later commit.
    mutating func takeReadTime(now: Timestamp) -> Timestamp {
        lastSeen = max(now.microseconds, lastSeen)
        return Timestamp(microseconds: lastSeen)
    }
}

/// The server's own tables, in addition to the store's tables. The list only grows: a released step
/// is never edited.
enum ServerSchema {
    static let migrations = [
        StoreMigration("server 1", sql: tables),
        StoreMigration("server 2", sql: WriteStreamTable.schema),
        StoreMigration("server 3", sql: removals),
        StoreMigration("server 4", sql: EventTable.schema),
    ]

    /// A row of `change` records a document before a commit changed it: all three `previous`
    /// columns are null if it did not exist.
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

    /// Some earlier rows record the removal of a document that was not removed. They cost useless
    /// reads until the log no longer contains them.
    private static let removals = """
        DROP INDEX changeByPath;
        ALTER TABLE change ADD COLUMN removed INTEGER NOT NULL DEFAULT 1;
        CREATE INDEX removalByPath ON change (database, path, commitTime) WHERE removed = 1;
        """
}
