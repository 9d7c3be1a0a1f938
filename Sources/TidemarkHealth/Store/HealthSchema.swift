import TidemarkStore

/// The schema of a ``HealthStore``.
enum HealthSchema {
    /// Every step ever shipped, oldest first. Append only: a released step is never edited.
    static let steps = [
        StoreMigration(
            "1 hours",
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
                """),
        StoreMigration(
            "2 samples",
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
                """),
    ]

    /// Performs the steps that the file lacks.
    ///
    /// - Throws: ``StoreError/newerSchema`` if the file has a step that this version does not know.
    static func migrate(_ db: HealthConnection) throws {
        let tables = try db.rows(
            "SELECT name FROM sqlite_schema WHERE name IN ('migration', 'grdb_migrations')"
        ) { $0.text(0) }
        // Earlier files name the table so.
        let isNamedOld = tables.contains("grdb_migrations")
        let table = isNamedOld ? "identifier FROM grdb_migrations" : "name FROM migration"
        let done = tables.isEmpty ? [] : try Set(db.rows("SELECT \(table)") { $0.text(0) })
        guard done.isSubset(of: steps.map(\.name)) else { throw StoreError.newerSchema }
        if isNamedOld {
            try transaction(
                """
                ALTER TABLE grdb_migrations RENAME TO migration;
                ALTER TABLE migration RENAME COLUMN identifier TO name;
                """, on: db)
        }
        for step in steps where !done.contains(step.name) {
            try transaction(
                """
                CREATE TABLE IF NOT EXISTS migration (name TEXT NOT NULL PRIMARY KEY);
                \(step.sql)
                INSERT INTO migration (name) VALUES ('\(step.name)');
                """, on: db)
        }
    }

    private static func transaction(_ sql: String, on db: HealthConnection) throws {
        try db.transaction("BEGIN IMMEDIATE", keeping: { _ in true }) { try $0.script(sql) }
    }
}
