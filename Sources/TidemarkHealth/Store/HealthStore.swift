import Foundation
import Synchronization
import TidemarkStore

/// A user's health data on this device, in a separate database.
///
/// Reads return hours. The store also keeps the measurements behind them, packed by day, because a
/// later import may bring a second device's measurements of the same hour. Readers never wait for a
/// writer.
public final class HealthStore: Sendable {
    let database: HealthDatabase
    let folder: String
    private let observers = Mutex<(next: Int, all: [Int: @Sendable (HealthChange) -> Void])>(
        (0, [:]))

    /// Opens the database.
    ///
    /// - Parameter path: The file, which is created if it is missing. `path-wal` and `path-shm` are
    ///   beside it while the store is open; an import sorts in a temporary file in the same folder.
    /// - Throws: ``HealthExportError/storage(detail:)``.
    public init(path: String) throws(HealthExportError) {
        do {
            database = try HealthDatabase(path: path)
        } catch {
            throw .storage(detail: Self.detail(error))
        }
        let parent = URL(filePath: path).deletingLastPathComponent().path
        folder = parent.isEmpty ? "." : parent
    }

    static func detail(_ error: any Error) -> String {
        guard let error = error as? StoreError else { return String(describing: error) }
        return switch error {
        case .corrupt(let detail), .unreadable(let detail), .invalidStatement(let detail): detail
        default: error.message
        }
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
        _ body: (HealthConnection) throws -> Value
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
