package import TidemarkModel
import Foundation
import GRDB

/// One SQLite file (or memory) of documents and their index entries, with room for its users' tables.
///
/// Synchronous: a call returns when its work is done. One writer; calls from several threads wait for
/// each other.
package final class DocumentStore: Sendable {
    package enum Location: Hashable, Sendable {
        case memory
        /// The file's path. Its folder is made when it is missing.
        case file(String)
    }

    /// What a transaction survives once it has returned.
    package enum Durability: Hashable, Sendable {
        /// The kill of this process.
        case process
        /// The loss of power too: the journal is synced to disk. Milliseconds instead of microseconds.
        case disk
    }

    private let queue: DatabaseQueue

    /// - Parameter migrations: The schema of the caller's own tables, after the store's.
    /// - Throws: ``StoreError``, having changed nothing.
    package init(_ location: Location, migrations: [StoreMigration] = []) throws(StoreError) {
        do {
            switch location {
            case .memory: queue = try DatabaseQueue()
            case .file(let path): queue = try DatabaseQueue(path: path)
            }
            var migrator = DatabaseMigrator()
            migrator.registerMigration("store 1") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE document (
                            database TEXT NOT NULL, path TEXT NOT NULL, kind INTEGER NOT NULL,
                            fields BLOB NOT NULL, createTime INTEGER NOT NULL,
                            updateTime INTEGER NOT NULL, readTime INTEGER NOT NULL,
                            committed INTEGER NOT NULL, PRIMARY KEY (database, path));
                        """)
            }
            for migration in migrations {
                migrator.registerMigration(migration.name) { try $0.execute(sql: migration.sql) }
            }
            try migrator.migrate(queue)
        } catch { throw .invalidStatement(detail: "\(error)") }
    }

    /// Runs `body` in one transaction: all of it happens, or nothing when it throws.
    package func write<T>(
        _ durability: Durability = .process, _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        try queue.write { try body(StoreTransaction(database: $0)) }
    }

    /// Runs `body` on one consistent state.
    package func read<T>(_ body: (StoreTransaction) throws -> T) throws -> T {
        try queue.read { try body(StoreTransaction(database: $0)) }
    }

    /// Ends the use of the file. Later calls throw.
    package func close() throws(StoreError) {
        do { try queue.close() } catch { throw .unreadable(detail: "\(error)") }
    }
}

/// Access to the store inside one transaction. Not to be kept beyond it.
package final class StoreTransaction {
    private let database: Database

    init(database: Database) { self.database = database }

    /// The documents of one database.
    package func documents(of database: DatabaseID) -> DocumentTable {
        DocumentTable(database: database, transaction: self)
    }

    package func execute(_ sql: String, _ arguments: [SQLValue] = []) throws(StoreError) {
        do {
            try database.cachedStatement(sql: sql).execute(arguments: Self.arguments(arguments))
        } catch { throw .invalidStatement(detail: "\(error)") }
    }

    package func rows(_ sql: String, _ arguments: [SQLValue] = []) throws(StoreError) -> [SQLRow] {
        do {
            let rows = try Row.fetchAll(
                database.cachedStatement(sql: sql), arguments: Self.arguments(arguments))
            return rows.map { row in SQLRow(values: row.databaseValues.map(Self.value)) }
        } catch { throw .invalidStatement(detail: "\(error)") }
    }

    package var lastInsertedRowID: Int64 { database.lastInsertedRowID }

    /// Runs `body` so that what it changed is undone when it throws, and the transaction goes on.
    package func savepoint<T>(_ body: () throws -> T) throws -> T {
        var result: T?
        try database.inSavepoint {
            result = try body()
            return .commit
        }
        return result!
    }

    private static func arguments(_ values: [SQLValue]) -> StatementArguments {
        StatementArguments(
            values.map { value -> (any DatabaseValueConvertible)? in
                switch value {
                case .null: nil
                case .integer(let value): value
                case .real(let value): value
                case .text(let value): value
                case .blob(let value): Data(value)
                }
            })
    }

    private static func value(_ value: DatabaseValue) -> SQLValue {
        switch value.storage {
        case .null: .null
        case .int64(let value): .integer(value)
        case .double(let value): .real(value)
        case .string(let value): .text(value)
        case .blob(let value): .blob(Array(value))
        }
    }
}
