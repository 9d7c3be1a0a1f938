import TidemarkModel
import TidemarkStore

/// Reads of the cache that take more than one step: each in slices, between which the engine does other
/// things (Decisions/0026).
// @unchecked: used on the engine's executor only, like the engine.
final class SlicedReads: @unchecked Sendable {
    /// A read that is under way.
    private struct Running {
        let read: any SlicedRead
        /// Called once, within the last slice, with why there is no answer if there is none.
        let completion: (SyncError?) -> Void
        /// Whether its listeners outlive a change of the user and begin it anew.
        let isOfListeners: Bool
    }

    private let context: EngineContext
    private let indexes: IndexBuilder
    private var running: [UInt64: Running] = [:]
    private var nextID: UInt64 = 0

    /// How long a slice may hold the engine. A frame of a screen is 8 ms.
    private static let longestSlice = Duration.milliseconds(3)
    /// How many rows are made ready for an answer at a time.
    private static let rowsOfAnswer = 5_000

    init(_ context: EngineContext, _ indexes: IndexBuilder) {
        self.context = context
        self.indexes = indexes
    }

    /// Documents or entries past which an answer is looked for in slices.
    var mostAtOnce: Int { min(context.environment.rowsOfSlice, 2_000) }
    var isEmpty: Bool { running.isEmpty }

    /// Does the first slice of a read now, and the others after what waits meanwhile.
    func begin(_ read: any SlicedRead, completion: @escaping (SyncError?) -> Void) {
        slice(add(read, false, completion))
    }

    /// As ``begin(_:completion:)``, with all slices later: for a read after others have been tried.
    ///
    /// - Returns: By which it can be dropped.
    @discardableResult
    func beginLater(
        _ read: any SlicedRead, isOfListeners: Bool = false,
        completion: @escaping (SyncError?) -> Void
    ) -> UInt64 {
        let id = add(read, isOfListeners, completion)
        sliceLater(id)
        return id
    }

    /// Ends a read of which nobody is told.
    func drop(_ id: UInt64) { running[id] = nil }

    /// Those that wait for an answer get none.
    func endAll(_ error: SyncError) {
        for id in running.filter({ !$0.value.isOfListeners }).keys.sorted() { finish(id, error) }
    }

    /// Makes rows that were found what a caller sees.
    func show(_ rows: [LocalDocument], _ completion: @escaping ([ViewDocument]) -> Void) {
        show(RowsToShow(rows: rows, completion: completion))
    }

    private func add(
        _ read: any SlicedRead, _ isOfListeners: Bool,
        _ completion: @escaping (SyncError?) -> Void
    ) -> UInt64 {
        let id = nextID
        nextID += 1
        running[id] = Running(
            read: read, completion: completion, isOfListeners: isOfListeners)
        return id
    }

    private func sliceLater(_ id: UInt64) { context.later { [self] in slice(id) } }

    private func slice(_ id: UInt64) {
        guard let read = running[id]?.read else { return }
        let scheduler = context.environment.scheduler
        let end = scheduler.elapsed + Self.longestSlice
        let budget = ScanBudget(rows: context.environment.rowsOfSlice) { scheduler.elapsed >= end }
        do {
            guard try read.step(budget) else { return sliceLater(id) }
        } catch { return finish(id, SyncError(storing: error)) }
        finish(id, nil)
        indexes.want()
    }

    private func finish(_ id: UInt64, _ error: SyncError?) {
        running.removeValue(forKey: id)?.completion(error)
    }

    private func show(_ rows: RowsToShow) {
        rows.show(Self.rowsOfAnswer)
        if rows.isDone { return rows.completion(rows.shown) }
        context.later { [self] in show(rows) }
    }
}

/// What goes from one job of the engine's executor to the next.
// @unchecked: made and used on that executor only.
private final class RowsToShow: @unchecked Sendable {
    private let rows: [LocalDocument]
    private(set) var shown: [ViewDocument] = []
    let completion: ([ViewDocument]) -> Void

    init(rows: [LocalDocument], completion: @escaping ([ViewDocument]) -> Void) {
        self.rows = rows
        self.completion = completion
        shown.reserveCapacity(rows.count)
    }

    var isDone: Bool { shown.count == rows.count }

    func show(_ most: Int) {
        for row in rows[shown.count...].prefix(most) { shown.append(row.shown) }
    }
}
