import Foundation
import GRDB
import Synchronization

/// A user's health data on this device, in a separate database.
///
/// Reads return hours. The store also keeps the measurements behind them, packed by day, because a
/// later import may bring a second device's measurements of the same hour. Readers never wait for a
/// writer.
public final class HealthStore: Sendable {
    let database: DatabasePool
    let folder: String
    private let observers = Mutex<(next: Int, all: [Int: @Sendable (HealthChange) -> Void])>(
        (0, [:]))

    /// Opens the database.
    ///
    /// - Parameter path: The file, which is created if it is missing. `path-wal` and `path-shm` are
    ///   beside it while the store is open; an import sorts in a temporary file in the same folder.
    /// - Throws: ``HealthExportError/storage(detail:)``.
    public init(path: String) throws(HealthExportError) {
        var configuration = Configuration()
        configuration.label = "tidemark.health"
        // Several readers can run beside one writer, and each reader holds a cache.
        configuration.maximumReaderCount = 3
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000")
        }
        do {
            database = try DatabasePool(path: path, configuration: configuration)
            try DatabaseMigrator.health.migrate(database)
        } catch {
            throw .storage(detail: Self.detail(error))
        }
        let parent = URL(filePath: path).deletingLastPathComponent().path
        folder = parent.isEmpty ? "." : parent
    }

    static func detail(_ error: any Error) -> String {
        (error as? DatabaseError)?.message ?? String(describing: error)
    }

    /// Reads from one state of the database, also while an import writes.
    ///
    /// - Throws: ``HealthExportError/storage(detail:)``.
    public func read<Value>(
        _ body: (HealthSnapshot) throws -> Value
    ) throws(HealthExportError) -> Value {
        do {
            return try database.read { try body(HealthSnapshot(db: $0)) }
        } catch let error as HealthExportError {
            throw error
        } catch {
            throw .storage(detail: Self.detail(error))
        }
    }

    /// Runs a transaction, which is applied completely or not at all.
    func write<Value>(
        _ body: (Database) throws -> Value
    ) throws(HealthExportError) -> Value {
        do {
            return try database.write(body)
        } catch let error as HealthExportError {
            throw error
        } catch {
            throw .storage(detail: Self.detail(error))
        }
    }

    /// Calls `body` after each commit with the changes, on the writing thread. The observation ends
    /// with the returned object.
    func observe(_ body: @escaping @Sendable (HealthChange) -> Void) -> Observation {
        let number = observers.withLock { observers in
            observers.next += 1
            observers.all[observers.next] = body
            return observers.next
        }
        return Observation { [weak self] in
            _ = self?.observers.withLock { $0.all.removeValue(forKey: number) }
        }
    }

    func announce(_ change: HealthChange) {
        if change.isEmpty { return }
        let all = observers.withLock { Array($0.all.values) }
        for observer in all { observer(change) }
    }

    var isObserved: Bool { observers.withLock { !$0.all.isEmpty } }

    /// An observation, which ends when it is released.
    final class Observation: Sendable {
        private let end: @Sendable () -> Void
        init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
    }
}

extension DatabaseMigrator {
    /// Every schema ever shipped, oldest first. Append only: a released step is history, not code.
    static var health: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 hours") { db in
            try db.execute(
                sql: """
                    CREATE TABLE source (
                        number INTEGER PRIMARY KEY,     -- from 0; never changes its meaning
                        name TEXT NOT NULL,
                        device INTEGER NOT NULL         -- HealthSource.Device
                    ) STRICT;
                    CREATE TABLE zone (
                        number INTEGER PRIMARY KEY,     -- from 1; never changes its meaning
                        name TEXT NOT NULL              -- as in Europe/Berlin
                    ) STRICT;
                    CREATE TABLE measurements (
                        kind INTEGER NOT NULL,          -- HealthKind
                        day INTEGER NOT NULL,           -- of the start, UTC, since 1970
                        samples BLOB NOT NULL,          -- SampleCoding
                        PRIMARY KEY (kind, day)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE changed (
                        day INTEGER PRIMARY KEY,        -- local, since 1970
                        number INTEGER NOT NULL         -- of the import, from 1
                    ) STRICT;
                    CREATE TABLE hour (
                        kind INTEGER NOT NULL,          -- HealthKind
                        day INTEGER NOT NULL,           -- local, since 1970
                        start INTEGER NOT NULL,         -- seconds since 1970
                        offset INTEGER NOT NULL,        -- minutes east
                        zone INTEGER NOT NULL,          -- 0: not known
                        sum INTEGER NOT NULL,           -- millionths of the kind's unit
                        count INTEGER NOT NULL,         -- readings
                        minimum INTEGER NOT NULL,
                        maximum INTEGER NOT NULL,
                        last INTEGER NOT NULL,
                        lastTime INTEGER NOT NULL,      -- seconds since 1970
                        PRIMARY KEY (kind, day, start, offset)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("2 samples") { db in
            try db.execute(
                sql: """
                    ALTER TABLE hour ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;  -- HourOrigin
                    CREATE INDEX otherHour ON hour (kind, start) WHERE origin > 0;
                    CREATE TABLE sample (
                        id INTEGER PRIMARY KEY,         -- 64 bits of HealthKit's UUID
                        identity INTEGER NOT NULL,      -- of the measurement; 0: not known
                        kind INTEGER NOT NULL,          -- HealthKind; 0: not known
                        start INTEGER NOT NULL,         -- seconds since 1970
                        isDeleted INTEGER NOT NULL
                    ) STRICT;
                    CREATE INDEX sampleByIdentity ON sample (identity);
                    CREATE INDEX deletedSample ON sample (kind, start, identity) WHERE isDeleted = 1;
                    CREATE TABLE anchor (
                        kind INTEGER PRIMARY KEY,       -- HealthKind
                        data BLOB NOT NULL              -- the source's own
                    ) STRICT;
                    """)
        }
        return migrator
    }
}
