import TidemarkModel
import TidemarkStore

/// A read of the cache that is under way.
struct RunningRead {
    let read: any SlicedRead
    /// Told once, within the last slice, with why there is no answer if there is none.
    let completion: (SyncError?) -> Void
}

// Whatever looks at much of the cache does it in slices, between which the engine does other things
// (Decisions/0026).

extension EngineCore {
    /// How long a slice may hold the engine. A frame of a screen is 8 ms.
    private static let longestSlice = Duration.milliseconds(3)

    /// Documents or entries past which an answer is looked for in slices.
    var mostAtOnce: Int { min(environment.rowsOfSlice, 2_000) }

    /// Does the first slice of a read now, and the others after what waits meanwhile.
    ///
    /// - Returns: By which it can be ended; nil where it is done.
    @discardableResult
    func begin(
        _ read: any SlicedRead, completion: @escaping (SyncError?) -> Void
    ) -> UInt64? {
        let id = nextSlicedRead
        nextSlicedRead += 1
        slicedReads[id] = RunningRead(read: read, completion: completion)
        slice(id)
        return slicedReads[id] == nil ? nil : id
    }

    /// As ``begin(_:completion:)``, with all slices later: for a read after others have been tried.
    func beginLater(
        _ read: any SlicedRead, completion: @escaping (SyncError?) -> Void
    ) -> UInt64 {
        let id = nextSlicedRead
        nextSlicedRead += 1
        slicedReads[id] = RunningRead(read: read, completion: completion)
        sliceLater(id)
        return id
    }

    private func sliceLater(_ id: UInt64) {
        environment.scheduler.enqueue { [weak self] in self?.slice(id) }
    }

    private func slice(_ id: UInt64) {
        guard let running = slicedReads[id] else { return }
        let scheduler = environment.scheduler
        let end = scheduler.elapsed + Self.longestSlice
        let budget = ScanBudget(rows: environment.rowsOfSlice) { scheduler.elapsed >= end }
        do {
            guard try running.read.step(budget) else { return sliceLater(id) }
        } catch { return finishRead(id, SyncError(storing: error)) }
        finishRead(id, nil)
        wantIndexes()
    }

    private func finishRead(_ id: UInt64, _ error: SyncError?) {
        slicedReads.removeValue(forKey: id)?.completion(error)
    }

    /// Ends a read of which nobody is told.
    func dropRead(_ id: UInt64) { slicedReads[id] = nil }

    /// Those that wait for an answer get none.
    func endSlicedReads(_ error: SyncError) {
        let ids = slicedReads.keys.sorted()
        let ofListeners = Set(openings.values.compactMap(\.read))
        for id in ids where !ofListeners.contains(id) { finishRead(id, error) }
    }

    /// How many rows are made ready for an answer at a time.
    private static let rowsOfAnswer = 5_000

    /// Makes rows that were found what a caller sees.
    func show(_ rows: [LocalDocument], _ completion: @escaping ([ViewDocument]) -> Void) {
        show(RowsToShow(rows: rows, completion: completion))
    }

    private func show(_ rows: RowsToShow) {
        rows.show(Self.rowsOfAnswer)
        if rows.isDone { return rows.completion(rows.shown) }
        environment.scheduler.enqueue { [weak self] in self?.show(rows) }
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
