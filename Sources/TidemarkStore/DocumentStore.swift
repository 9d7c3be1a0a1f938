import Foundation
import Synchronization

/// One SQLite file (or memory) of documents and their index entries, with room for its users'
/// tables.
///
/// Synchronous: a call returns when its work is done. One writer; calls from several threads wait
/// for each other, and a call from inside another traps. The file is this process's alone while it
/// is open: who opens it a second time is told ``StoreError/locked`` at once.
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
        /// The loss of power too: the journal is synced to disk. Milliseconds instead of
        /// microseconds.
        case disk
    }

    /// When an index that a query wished for is made.
    package enum IndexBuilding: Hashable, Sendable {
        /// After the transaction of the query, by documents in proportion to those it scanned, and
        /// the rest after the next ones.
        case afterTransactions
        /// Only by ``DocumentStore/buildWantedIndexes(slice:)``.
        case onRequest
    }

    /// Lets a test make the disk fail. Asked in every labelled transaction when its work is done and
    /// before it is committed, so that everything around the failure is the real thing.
    package typealias Fault = @Sendable (_ label: String) -> StoreError?

    /// What a store takes of memory and time.
    package struct Tuning: Hashable, Sendable {
        /// Pages of 4 KiB in SQLite's log that are worth moving into the file, when nobody waits:
        /// ``DocumentStore/hasLongLog``.
        package var logPages: Int
        /// Pages after which a commit moves them, and takes that much longer.
        package var longestLog: Int
        /// How much of the file is kept in memory.
        package var cacheKibibytes: Int

        /// - Parameter longestLog: Nil for as soon as it is long.
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

    /// - Parameter migrations: The schema of the caller's own tables, after the store's. A file
    /// that   has seen other steps than these counts as newer.
    /// - Parameter key: Gives the key that the file is encrypted with; nil for one that is not.
    /// - Throws: ``StoreError``, having changed nothing.
    package init(
        _ location: Location, migrations: [StoreMigration] = [],
        indexBuilding: IndexBuilding = .afterTransactions, tuning: Tuning = Tuning(),
        key: StoreKeySource? = nil, fault: Fault? = nil
    ) throws(StoreError) {
        self.indexBuilding = indexBuilding
        self.fault = fault
        logPages = tuning.logPages
        file = try StoreFile.open(location, tuning, migrations, key: key)
        connection = Connection(handle: file.handle, longestLog: tuning.longestLog)
    }

    deinit { connection.finalize() }

    /// Traps when it is called from inside itself.
    private func exclusively<T, E>(_ body: () throws(E) -> T) throws(E) -> T {
        var result: Result<T, E>?
        inUse.withLock { _ in
            do throws(E) { result = .success(try body()) } catch { result = .failure(error) }
        }
        return try result!.get()
    }

    /// Ends the use of the file. Later calls throw; closing twice does nothing.
    package func close() throws(StoreError) {
        try exclusively { () throws(StoreError) in
            connection.close()
            try file.close()
        }
    }
}

// MARK: - Files

extension DocumentStore {
    /// The databases whose paths begin so.
    package static func files(beginningWith prefix: String) -> [String] {
        let url = URL(fileURLWithPath: prefix)
        let folder = url.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().filter {
            $0.hasPrefix(url.lastPathComponent) && $0.hasSuffix(".sqlite")
        }.map { folder + "/" + $0 }
    }

    /// Moves a damaged file, with all that lies beside it, out of the way; one that was set aside before
    /// gives way. Nobody may have it open.
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

    /// The rows of a query that can be read of a damaged file, up to the first that cannot.
    ///
    /// - Throws: Where the key of an encrypted file cannot be given now.
    package static func salvage(
        _ sql: String, from path: String, key: StoreKeySource? = nil
    ) throws(StoreError) -> [[SQLValue]] {
        try StoreFile.salvage(sql, from: path, key: key)
    }

    /// Deletes a file and all that lies beside it. Nobody may have it open.
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
    /// Runs `body` in one transaction: all of it happens, or nothing when it throws.
    ///
    /// - Parameter label: What the transaction is for, as a ``Fault`` is asked about it.
    /// - Throws: What `body` throws, or ``StoreError``.
    package func write<T>(
        _ durability: Durability = .process, label: String = "",
        _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        var result: T?
        try writing(durability, label) { result = try body($0) }
        return result!
    }

    /// As ``write(_:label:_:)``, for who makes many small ones: what a function of another module returns
    /// costs a search for its type each time.
    package func writing(
        _ durability: Durability, _ label: String, _ body: (StoreTransaction) throws -> Void
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

    /// Runs `body` on one consistent state. Writing in it throws.
    ///
    /// - Throws: What `body` throws, or ``StoreError``.
    package func read<T>(
        label: String = "", _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        var result: T?
        try reading(label) { result = try body($0) }
        return result!
    }

    /// As ``read(label:_:)``, in the manner of ``writing(_:_:_:)``.
    package func reading(_ label: String, _ body: (StoreTransaction) throws -> Void) throws {
        // Nobody else can write while the queue is held, so the state stands still by itself.
        try exclusively {
            try connection.requireOpen()
            try body(StoreTransaction(connection: connection))
            if let error = fault?(label) { throw error }
            settleIndexes()
        }
    }

    /// How long SQLite's log is, in pages of 4 KiB.
    package var pagesInLog: Int {
        exclusively { connection.pagesInLog }
    }

    /// Whether it is time for ``moveLog()``.
    package var hasLongLog: Bool { pagesInLog >= logPages }

    /// Moves the log into the file, for an idle moment: some milliseconds for a thousand pages, and until
    /// the disk has them.
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

    /// Whether ``buildWantedIndexes(slice:)`` may have something to do.
    package var wantsIndexes: Bool {
        exclusively { IndexBuilder(connection: connection).isWanted }
    }

    private func settleIndexes() {
        if indexBuilding == .afterTransactions { IndexBuilder(connection: connection).settle() }
    }

    /// Goes on making the indexes that queries wished for, by at most `slice` steps: reading a
    /// document is one, and writing its entry another. A long log is moved into the file instead, so
    /// that no call does both.
    ///
    /// For an idle moment: some 1 to 2 µs a step, and what sorting the numbers of 50,000 documents takes, which is
    /// a slice of its own where `isOver` asks for it.
    ///
    /// - Parameter isOver: Asked after every hundred steps: true ends the slice.
    /// - Returns: Whether there is more to do.
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
