import Testing
import TestSupport
import Tidemark

@testable import TidemarkApp

/// Tests pages over a collection whose rows are added, removed and moved, with listeners that skip
/// states.
@Suite(.ownThread) struct `Pages under changes anywhere` {
    @Test(arguments: 0..<60)
    func `have no gap and no row twice`(seed: UInt64) throws {
        var world = PageWorld(seed: seed)
        for _ in 0..<120 { world.step() }
        world.settle()
        #expect(world.violation() == nil, "seed \(seed)")
        // Loads pages until the end.
        for _ in 0..<200 where world.machine.hasMore {
            world.loadMore()
            world.settle()
        }
        #expect(!world.machine.hasMore)
        #expect(world.violation() == nil, "seed \(seed), at the end")
    }
}

/// The collection, and the parts of it that the machine received.
private struct PageWorld {
    /// A part of the collection as of one step.
    private struct Told {
        let range: Range<PageEdge>
        let step: Int
        /// The edge above the first row. Rows may have been added above it since then.
        let newest: PageEdge
    }

    private struct Listener {
        let after: PagePosition?
        let limit: Int
        var told: [Told] = []
        var isDirty = true
    }

    private(set) var machine = PageMachine<Int>(pageSize: 5)
    private var random: SeededRandom
    private var times: [Int: (time: Int, changed: Int)] = [:]
    private var listeners: [Int: Listener] = [:]
    private var ended: [Told] = []
    private var now = 0
    private var nextRow = 0

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            insert(Int.random(in: 0...60, using: &random))
        }
        perform(machine.step(.start))
    }

    private mutating func insert(_ time: Int) {
        nextRow += 1
        times[nextRow] = (time, now)
    }

    mutating func step() {
        now += 1
        switch Int.random(in: 0..<20, using: &random) {
        case 0...3: insert(100 + now)
        case 4: insert(Int.random(in: 0...(100 + now), using: &random))
        case 5, 6: if let row = any() { times[row] = nil }
        case 7:
            if let row = any() {
                times[row] = (Int.random(in: 0...(100 + now), using: &random), now)
            }
        // More rows arrive than a page holds, as after an absence.
        case 8: for _ in 0..<12 { insert(100 + now) }
        case 9...11: loadMore()
        case 12:
            if let id = listeners.keys.sorted().randomElement(using: &random) {
                end(id)
                perform(machine.step(.failed(id, .invalidArgument("failed"))))
            }
        default:
            if let id = listeners.keys.sorted().randomElement(using: &random) { notify(id) }
            return
        }
        for id in listeners.keys { listeners[id]?.isDirty = true }
    }

    mutating func loadMore() { perform(machine.step(.loadMore)) }

    /// Updates the listeners until each has the latest state.
    mutating func settle() {
        now += 1
        if !listeners.values.contains(where: { $0.after == nil }) { loadMore() }
        while let id = listeners.filter(\.value.isDirty).keys.sorted().randomElement(using: &random)
        {
            notify(id)
        }
    }

    private mutating func any() -> Int? { times.keys.sorted().randomElement(using: &random) }

    private func position(_ row: Int) -> PagePosition {
        PagePosition(
            value: .integer(Int64(times[row]?.time ?? 0)),
            path: DocumentPath(unchecked: "c/\(row)"))
    }

    private var truth: [PageRow<Int>] {
        times.keys.map { PageRow(position($0), $0) }.sorted { $0.position < $1.position }
    }

    private mutating func notify(_ id: Int) {
        guard let listener = listeners[id] else { return }
        let below = truth.filter { row in listener.after.map { $0 < row.position } ?? true }
        let rows = Array(below.prefix(listener.limit))
        let upper = listener.after.map { PageEdge.after($0) } ?? .newest
        let lower =
            rows.count < listener.limit ? .oldest : PageEdge.after(rows[rows.count - 1].position)
        let newest = rows.first.map { PageEdge.before($0.position) } ?? lower
        listeners[id]?.told.append(Told(range: upper..<lower, step: now, newest: newest))
        listeners[id]?.isDirty = false
        perform(machine.step(.snapshot(id, rows, isFromCache: false)))
    }

    private mutating func perform(_ effects: [PageMachine<Int>.Effect]) {
        for effect in effects {
            switch effect {
            case .listen(let id, let after, let limit):
                listeners[id] = Listener(after: after, limit: limit)
            case .load: preconditionFailure("this machine listens to every page")
            case .stop(let id): end(id)
            }
        }
    }

    private mutating func end(_ id: Int) {
        guard var listener = listeners.removeValue(forKey: id) else { return }
        // An ended page counts as known up to its upper edge, because its range allows no rows
        // above that.
        if listener.after != nil, let last = listener.told.popLast() {
            listener.told.append(
                Told(range: last.range, step: last.step, newest: last.range.lowerBound))
        }
        ended += listener.told
    }

    /// Returns the first fault in the shown rows; nil if there is none.
    func violation() -> String? {
        let shown = Array(machine.rows)
        if shown != shown.sorted(by: { $0.position < $1.position }) { return "not in order" }
        if Set(shown.map(\.path)).count != shown.count { return "a row twice" }
        let live = listeners.values.compactMap { $0.told.last?.range }
        // Above its first row, an answer is valid only while it is the latest.
        var known = live.map { ($0, now) }
        for told in listeners.values.flatMap({ $0.told.dropLast() }) + ended {
            let lower = max(told.range.lowerBound, told.newest)
            if lower < told.range.upperBound {
                known.append((lower..<told.range.upperBound, told.step))
            }
        }
        let isWhole = !machine.hasMore
        guard let bottom = shown.last?.position else {
            return isWhole && !times.isEmpty ? "nothing is shown" : nil
        }
        for row in truth where isWhole || !(bottom < row.position) {
            let lastTold = known.filter { $0.0.contains(row.position) }.map(\.1).max()
            guard let lastTold else { return "\(row.content) is in a part that nobody knows" }
            let changed = times[row.content]?.changed ?? 0
            if changed <= lastTold, !shown.contains(row) { return "\(row.content) is missing" }
        }
        for row in shown where !truth.contains(row) {
            if live.contains(where: { $0.contains(row.position) }) {
                return "\(row.content) is shown where it is not"
            }
        }
        return nil
    }
}
