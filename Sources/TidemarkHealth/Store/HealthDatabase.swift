import Dispatch
import Foundation
import Synchronization
import TidemarkStore

/// The file of a ``HealthStore``: a connection that writes, and up to three that read beside it.
final class HealthDatabase: Sendable {
    private let path: String
    private let writer: HealthConnection
    private let writing = NSLock()
    /// The readers that are not in use.
    private let idle = Mutex<[HealthConnection]>([])
    private let free = DispatchSemaphore(value: maxReaders)

    /// The maximum number of readers, because each holds a cache. A further read waits for one.
    private static let maxReaders = 3

    /// Opens the file, and migrates it to the newest schema.
    ///
    /// - Throws: `StoreError`. A newer file is not changed.
    init(path: String) throws {
        self.path = path
        writer = try HealthConnection(path, .writer)
        try HealthSchema.migrate(writer)
    }

    // The writer closes last, and moves the log into the file.
    deinit { idle.withLock { $0 = [] } }

    /// Runs reads on one state of the file. Waits for no writer.
    func read<Value>(_ body: (HealthConnection) throws -> Value) throws -> Value {
        free.wait()
        defer { free.signal() }
        let reader = try idle.withLock { $0.popLast() } ?? HealthConnection(path, .reader)
        defer { idle.withLock { $0.append(reader) } }
        return try reader.transaction("BEGIN", keeping: { _ in true }, body)
    }

    /// Runs a transaction, which is applied completely or not at all. Waits for other writers.
    ///
    /// - Parameter keeps: Decides by the result whether the changes are kept.
    func write<Value>(
        keeping keeps: (Value) -> Bool = { _ in true },
        _ body: (HealthConnection) throws -> Value
    ) throws -> Value {
        try writing.withLock { try writer.transaction("BEGIN IMMEDIATE", keeping: keeps, body) }
    }
}
