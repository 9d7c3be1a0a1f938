import TidemarkModel
import TidemarkStore

/// Reads of the cache that take more than one step. Each runs in slices, and the engine does other
/// work between them (Decisions/0026).
// @unchecked: used on the engine's executor only, like the engine.
final class SlicedReads: @unchecked Sendable {
    /// A running read.
    private struct Running {
        let read: any SlicedRead
        /// Called once, within the last slice, with the reason if there is no answer.
        let completion: (SyncError?) -> Void
        /// True if the read's listeners continue after a change of the user and start the read
        /// again.
        let isOfListeners: Bool
    }

    private let context: EngineContext
    private let indexes: IndexBuilder
    private var running: [UInt64: Running] = [:]
    private var nextID: UInt64 = 0

    /// The maximum length of a slice. A frame of a screen takes 8 ms.
    private static let longestSlice = Duration.milliseconds(3)
    /// The number of rows that are prepared for an answer in one step.
    private static let rowsOfAnswer = 5_000

    init(_ context: EngineContext, _ indexes: IndexBuilder) {
        self.context = context
        self.indexes = indexes
    }

    /// The number of documents or entries beyond which an answer is searched in slices.
    var mostAtOnce: Int { min(context.environment.rowsOfSlice, 2_000) }
    var isEmpty: Bool { running.isEmpty }

    /// Performs the first slice of a read now, and the others after the engine's waiting work.
    func begin(_ read: any SlicedRead, completion: @escaping (SyncError?) -> Void) {
        slice(add(read, isOfListeners: false, completion: completion))
    }

    /// Starts a read as ``begin(_:completion:)`` does, but performs all slices later. This serves a
    /// read that follows other attempts.
    ///
    /// - Returns: The id with which the read can be dropped.
    @discardableResult
    func beginLater(
        _ read: any SlicedRead, isOfListeners: Bool = false,
        completion: @escaping (SyncError?) -> Void
    ) -> UInt64 {
        let id = add(read, isOfListeners: isOfListeners, completion: completion)
        sliceLater(id)
        return id
    }

    /// Ends a read without a completion.
    func drop(_ id: UInt64) { running[id] = nil }

    /// Ends all reads except the listeners' with an error.
    func endAll(_ error: SyncError) {
        for id in running.filter({ !$0.value.isOfListeners }).keys.sorted() { finish(id, error) }
    }

    /// Converts found rows to the form that a caller sees.
    func show(_ rows: [LocalDocument], _ completion: @escaping ([ViewDocument]) -> Void) {
        show(RowsToShow(rows: rows, completion: completion))
    }

    private func add(
        _ read: any SlicedRead, isOfListeners: Bool,
        completion: @escaping (SyncError?) -> Void
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

/// Rows that one job of the engine's executor hands to the next.
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
