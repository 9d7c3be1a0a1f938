import TidemarkModel
import TidemarkStore

/// The stored events without their documents, in memory: the waiting ones, and those that are kept
/// to be looked at and repeated.
struct EventOutbox {
    struct Bounds {
        /// The maximum number of stored events, and of their bytes.
        var events = 100_000
        var bytes = 256 << 20
        /// The number of delivered events that are kept, and their maximum size.
        var delivered = 100
        var deliveredSize = 65_536
        /// The number of events that are set aside. The oldest are removed.
        var setAside = 1_000
    }

    /// A change of the outbox on disk.
    enum Change {
        case remove(Int64)
        case keepAttempts(Int64, Int)
        case set(Int64, EventTable.State, reason: String?)
        case removeTrigger(Int64)

        func write(to table: EventTable) throws(StoreError) {
            switch self {
            case .remove(let id): try table.remove(event: id)
            case .keepAttempts(let id, let count): try table.keep(attempts: count, of: id)
            case .set(let id, let state, let reason):
                try table.set(state, reason: reason, of: id)
            case .removeTrigger(let id): try table.remove(trigger: id)
            }
        }
    }

    private let bounds: Bounds
    private var waiting: [Int64: EventTable.Outline] = [:]
    private(set) var setAside: [EventTable.Outline] = []
    private(set) var delivered: [EventTable.Outline] = []
    private(set) var bytes = 0

    init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

    var count: Int { waiting.count + setAside.count + delivered.count }

    func waitingCount(of trigger: Int64) -> Int {
        waiting.values.count { $0.trigger == trigger }
    }

    /// - Throws: `resourceExhausted` if the outbox has no room for the events of a commit.
    func checkRoom(
        for drafts: [EventDraft], after earlier: RecordedEvents
    ) throws(RPCStatus) {
        let stored = count + earlier.outlines.count
        let size = drafts.reduce(bytes + earlier.bytes) { $0 + $1.size }
        if stored + drafts.count <= bounds.events, size <= bounds.bytes { return }
        throw RPCStatus(
            .resourceExhausted,
            """
            The outbox of document events is full: \(stored) events of \(bytes >> 20) MiB wait for \
            functions. Start the functions, or remove their triggers.
            """)
    }

    mutating func add(_ outline: EventTable.Outline) {
        bytes += outline.size
        switch outline.state {
        case .waiting: waiting[outline.id] = outline
        case .setAside: setAside.append(outline)
        case .delivered: delivered.append(outline)
        }
    }

    /// Moves a waiting event to the delivered ones, or removes it if it is large.
    ///
    /// - Returns: The outline, nil if the event does not wait; and the changes for the disk.
    mutating func finish(_ id: Int64) -> (outline: EventTable.Outline?, changes: [Change]) {
        guard var outline = waiting.removeValue(forKey: id) else { return (nil, [.remove(id)]) }
        guard outline.size <= bounds.deliveredSize else {
            bytes -= outline.size
            return (outline, [.remove(id)])
        }
        outline.state = .delivered
        delivered.append(outline)
        let surplus = Self.trim(&delivered, to: bounds.delivered)
        bytes -= surplus.reduce(0) { $0 + $1.size }
        return (outline, [.set(id, .delivered, reason: nil)] + surplus.map { .remove($0.id) })
    }

    /// Moves a waiting event to those that are set aside.
    ///
    /// - Returns: The changes for the disk.
    mutating func putAside(_ id: Int64, reason: String) -> [Change] {
        guard var outline = waiting.removeValue(forKey: id) else { return [] }
        outline.state = .setAside
        outline.reason = reason
        setAside.append(outline)
        let surplus = Self.trim(&setAside, to: bounds.setAside)
        bytes -= surplus.reduce(0) { $0 + $1.size }
        return [.set(id, .setAside, reason: reason)] + surplus.map { .remove($0.id) }
    }

    /// Removes the oldest outlines above a number, and returns them.
    private static func trim(
        _ outlines: inout [EventTable.Outline], to most: Int
    ) -> [EventTable.Outline] {
        let surplus = Array(outlines.prefix(max(0, outlines.count - most)))
        outlines.removeFirst(surplus.count)
        return surplus
    }

    /// Returns an event that was delivered or set aside, by the id that its function received.
    func kept(_ event: String) -> EventTable.Outline? {
        (setAside + delivered).first { $0.event.hasSameBytes(as: event) }
    }

    mutating func removeKept(_ outline: EventTable.Outline) {
        setAside.removeAll { $0.id == outline.id }
        delivered.removeAll { $0.id == outline.id }
        bytes -= outline.size
    }

    /// Removes all events of a trigger.
    mutating func removeAll(of trigger: Int64) {
        let own = (Array(waiting.values) + setAside + delivered).filter { $0.trigger == trigger }
        for outline in own { waiting[outline.id] = nil }
        setAside.removeAll { $0.trigger == trigger }
        delivered.removeAll { $0.trigger == trigger }
        bytes -= own.reduce(0) { $0 + $1.size }
    }

    mutating func removeAll() {
        waiting = [:]
        setAside = []
        delivered = []
        bytes = 0
    }
}

/// The events that a transaction has stored so far.
struct RecordedEvents {
    private(set) var outlines: [EventTable.Outline] = []
    private(set) var bytes = 0

    init(_ outlines: [EventTable.Outline] = []) {
        for outline in outlines { append(outline) }
    }

    mutating func append(_ outline: EventTable.Outline) {
        outlines.append(outline)
        bytes += outline.size
    }
}
