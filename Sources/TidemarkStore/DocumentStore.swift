import Foundation
import Synchronization

/// A SQLite file (or memory) with documents and their index entries, and with room for the tables
/// of its users.
///
/// The store is synchronous: a call returns when its work is done. There is one writer. Calls from
/// several threads wait for each other, and a call from inside another traps. While the file is
/// open, it belongs to this process: opening it a second time throws ``StoreError/locked``
/// immediately.
package final class DocumentStore: Sendable {
    package enum Location: Hashable, Sendable {
        case memory
        /// The path of a file. A missing folder is created.
        case file(String)
    }

    /// The events that a transaction survives after it has returned.
    package enum Durability: Hashable, Sendable {
        /// A kill of this process.
        case process
        /// A loss of power: the journal is synced to disk. Takes milliseconds instead of
        /// microseconds.
        case disk
    }

    /// The time at which an index that a query requested is built.
    package enum IndexBuilding: Hashable, Sendable {
        /// After the query's transaction, in proportion to the documents that the query scanned;
        /// the rest after the next transactions.
        case afterTransactions
        /// Only when ``DocumentStore/buildWantedIndexes(slice:)`` is called.
        case onRequest
    }

    /// Lets a test make the disk fail. Called in every labelled transaction, after its work and
    /// before its commit, so that only the failure is simulated.
    package typealias Fault = @Sendable (_ label: String) -> StoreError?

    /// The memory and time that a store uses.
    package struct Tuning: Hashable, Sendable {
        /// The length of SQLite's log, in pages of 4 KiB, from which it is worth moving into the
        /// file when no caller waits: ``DocumentStore/hasLongLog``.
        package var logPages: Int
        /// The length in pages from which a commit moves the log, which makes the commit slower.
        package var longestLog: Int
        /// The size of the page cache in KiB.
        package var cacheKibibytes: Int

        /// - Parameter longestLog: The length from which a commit moves the log; nil for
        ///   `logPages`.
        package init(logPages: Int = 4_000, longestLog: Int? = nil, cacheKibibytes: Int = 8_000) {
            precondition(logPages > 0 && cacheKibibytes > 0)
            self.logPages = logPages
            self.longestLog = max(longestLog ?? logPages, logPages)
            self.cacheKibibytes = cacheKibibytes
        }
    }

    private let file: StoreFile
    private let connection: Connection
    /// Held by the call that uses the connection.
    private let inUse = Mutex(())
    private let indexBuilding: IndexBuilding
    private let fault: Fault?
    private let logPages: Int

    /// - Parameters:
    ///   - migrations: The schema of the caller's own tables, after the store's. A file with other
    ///     steps than these counts as newer.
    ///   - key: Provides the key of an encrypted file; nil if the file is not encrypted.
    /// - Throws: ``StoreError``. Nothing is changed then.
    package init(
        _ location: Location, migrations: [StoreMigration] = [],
        indexBuilding: IndexBuilding = .afterTransactions, tuning: Tuning = Tuning(),
        key: StoreKeySource? = nil, fault: Fault? = nil
    ) throws(StoreError) {
        self.indexBuilding = indexBuilding
        self.fault = fault
        logPages = tuning.logPages
        file = try StoreFile.open(location, tuning: tuning, migrations: migrations, key: key)
        connection = Connection(handle: file.handle, longestLog: tuning.longestLog)
    }

    deinit { connection.finalize() }

    /// Runs `body` under the lock. A nested call traps.
    private func exclusively<T, E>(_ body: () throws(E) -> T) throws(E) -> T {
        var result: Result<T, E>?
        inUse.withLock { _ in
            do throws(E) { result = .success(try body()) } catch { result = .failure(error) }
        }
        return try result!.get()
    }

    /// Closes the file. Later calls throw; closing twice has no effect.
    package func close() throws(StoreError) {
        try exclusively { () throws(StoreError) in
            connection.close()
            try file.close()
        }
    }
}

// MARK: - Files

extension DocumentStore {
    /// Returns the databases whose paths begin with `prefix`.
    package static func files(beginningWith prefix: String) -> [String] {
        let url = URL(fileURLWithPath: prefix)
        let folder = url.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().filter {
            $0.hasPrefix(url.lastPathComponent) && $0.hasSuffix(".sqlite")
        }.map { folder + "/" + $0 }
    }

    /// Moves a damaged file and the files beside it away, and replaces a file moved away earlier.
    /// No process may have the file open.
    package static func setAside(_ path: String) throws(StoreError) {
        try erase(path + ".damaged")
        for suffix in ["", "-wal", "-shm", "-journal"]
        where FileManager.default.fileExists(atPath: path + suffix) {
            do {
                try FileManager.default.moveItem(
                    atPath: path + suffix, toPath: path + ".damaged" + suffix)
            } catch { throw .unreadable(detail: "\(error)") }
        }
    }

    /// Returns the readable rows of a query on a damaged file, up to the first unreadable row.
    ///
    /// - Throws: An error if the key of an encrypted file is not available now.
    package static func salvage(
        _ sql: String, from path: String, key: StoreKeySource? = nil
    ) throws(StoreError) -> [[SQLValue]] {
        try StoreFile.salvage(sql, from: path, key: key)
    }

    /// Deletes a file and the files beside it. No process may have the file open.
    package static func erase(_ path: String) throws(StoreError) {
        for suffix in ["", "-wal", "-shm", "-journal"]
        where FileManager.default.fileExists(atPath: path + suffix) {
            do { try FileManager.default.removeItem(atPath: path + suffix) } catch {
                throw .unreadable(detail: "\(error)")
            }
        }
    }
}

// MARK: - Transactions

extension DocumentStore {
    /// Runs `body` in one transaction: all of its effects happen, or none if it throws.
    ///
    /// - Parameter label: The purpose of the transaction, which is passed to a ``Fault``.
    /// - Throws: The error of `body`, or ``StoreError``.
    package func write<T>(
        _ durability: Durability = .process, label: String = "",
        _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        var result: T?
        try writing(durability, label: label) { result = try body($0) }
        return result!
    }

    /// Like ``write(_:label:_:)``, for callers with many small transactions. A generic result from
    /// another module would cost a type look-up each time.
    package func writing(
        _ durability: Durability, label: String, body: (StoreTransaction) throws -> Void
    ) throws {
        try exclusively {
            try connection.begin(synced: durability == .disk)
            do {
                try body(StoreTransaction(connection: connection))
                if let error = fault?(label) { throw error }
            } catch {
                connection.rollback()
                throw error
            }
            try connection.commit()
            settleIndexes()
        }
    }

    /// Runs `body` on one consistent state. Writing throws.
    ///
    /// - Throws: The error of `body`, or ``StoreError``.
    package func read<T>(
        label: String = "", _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        var result: T?
        try reading(label) { result = try body($0) }
        return result!
    }

    /// Like ``read(label:_:)``, without a generic result, as ``writing(_:label:body:)``.
    package func reading(_ label: String, _ body: (StoreTransaction) throws -> Void) throws {
        // The lock excludes other writers, so the state does not change.
        try exclusively {
            try connection.requireOpen()
            try body(StoreTransaction(connection: connection))
            if let error = fault?(label) { throw error }
            settleIndexes()
        }
    }

    /// The length of SQLite's log, in pages of 4 KiB.
    package var pagesInLog: Int {
        exclusively { connection.pagesInLog }
    }

    /// True if ``moveLog()`` is worthwhile.
    package var hasLongLog: Bool { pagesInLog >= logPages }

    /// Moves the log into the file, at an idle moment. Takes some milliseconds per thousand pages,
    /// and waits for the disk.
    package func moveLog() {
        exclusively {
            if (try? connection.requireOpen()) != nil { connection.moveLog() }
        }
    }

    func withConnection<T>(
        _ body: (Connection) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        do { return try exclusively { try body(connection) } } catch {
            throw StoreError(error)
        }
    }

    /// True if ``buildWantedIndexes(slice:)`` may have work.
    package var wantsIndexes: Bool {
        exclusively { IndexBuilder(connection: connection).isWanted }
    }

    private func settleIndexes() {
        if indexBuilding == .afterTransactions { IndexBuilder(connection: connection).settle() }
    }

    /// Continues building requested indexes, by at most `slice` steps: reading a document is a
    /// step, and writing its entry is another. If the log is long, moves it into the file instead,
    /// so that no call does both.
    ///
    /// Call this in an idle moment: a step takes 1 to 2 µs. Sorting the numbers of 50,000 documents
    /// takes longer, and is a separate slice if `isOver` asks for it.
    ///
    /// - Parameter isOver: Called after every hundred steps; returns true to end the slice.
    /// - Returns: True if there is more work.
    package func buildWantedIndexes(
        slice: Int = 500, isOver: @escaping () -> Bool = { false }
    ) throws(StoreError) -> Bool {
        precondition(slice > 0)
        do {
            return try exclusively {
                try connection.requireOpen()
                return try IndexBuilder(connection: connection).buildSlice(
                    steps: slice, isOver: isOver)
            }
        } catch { throw StoreError(error) }
    }
}
