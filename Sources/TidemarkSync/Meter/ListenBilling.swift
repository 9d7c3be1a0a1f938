import TidemarkModel

/// What one listen stream costs, target by target: told of every message before it is acted upon.
///
/// A first answer costs what a query does. One that resumes costs what has changed, if the listener was
/// away for less than half an hour; after that it costs the whole result, whatever is sent. Both times
/// are the server's: of the last snapshot before, and of the first one after. Made anew with a stream.
struct ListenBilling: Equatable, Sendable {
    /// Since when a target's rows are known here.
    enum Start: Equatable, Sendable {
        case scratch
        case resumed(Timestamp)
    }

    /// What one target was billed at one moment.
    struct Bill: Equatable, Sendable {
        var targetID: Int32
        var reads: Int
        /// Whether it is the first answer, and not a later change.
        var isOpening: Bool
        /// By the server's clock; nil when it did not say.
        var time: Timestamp?
    }

    private struct Target: Equatable, Sendable {
        let targetID: Int32
        let query: Query?
        var start: Start
        /// Documents since the last bill.
        var documents = 0
        var isOpen = false
        /// How many rows the server says there are.
        var counted: Int?
    }

    /// Whether a target was sent this version since the last snapshot.
    typealias IsRepeated = (_ wireID: Int32, Document) -> Bool
    /// How many rows a target has with what was sent so far.
    typealias Rows = (_ wireID: Int32) -> Int

    private var targets: [Int32: Target] = [:]

    mutating func begin(
        _ wireID: Int32, _ targetID: Int32, _ kind: ListenTarget.Kind, from start: Start
    ) {
        var query: Query?
        if case .query(let asked) = kind { query = asked }
        targets[wireID] = Target(targetID: targetID, query: query, start: start)
    }

    /// Nobody listens any more: what was sent was billed, though it was not all.
    mutating func end(_ wireID: Int32) -> [Bill] {
        guard let target = targets.removeValue(forKey: wireID), target.documents > 0 else {
            return []
        }
        return [
            Bill(
                targetID: target.targetID, reads: target.documents, isOpening: !target.isOpen)
        ]
    }

    mutating func endAll() -> [Bill] {
        targets.keys.sorted().flatMap { end($0) }
    }

    mutating func receive(
        _ response: ListenResponse, isRepeated: IsRepeated, rows: Rows
    ) -> [Bill] {
        switch response {
        case .documentChange(let change):
            // One that leaves because it has changed is sent too, and costs as much.
            for id in change.targetIDs { count(change.document, for: id, isRepeated) }
            for id in change.removedTargetIDs { count(change.document, for: id, isRepeated) }
            return []
        case .existenceFilter(let filter):
            targets[filter.targetID]?.counted = Int(filter.count)
            return []
        case .targetChange(let change): return receive(change, rows)
        // Who is told only that a document is gone pays nothing.
        case .documentDelete, .documentRemove: return []
        }
    }

    private mutating func count(_ document: Document, for id: Int32, _ isRepeated: IsRepeated) {
        guard let index = targets.index(forKey: id), !isRepeated(id, document) else { return }
        targets.values[index].documents += 1
    }

    private mutating func receive(_ change: TargetChange, _ rows: Rows) -> [Bill] {
        let ids = change.targetIDs.isEmpty ? targets.keys.sorted() : change.targetIDs
        switch change.kind {
        case .current:
            return ids.compactMap { settle($0, change.readTime, rows) }
        case .remove: return ids.flatMap { end($0) }
        case .reset:
            for id in ids where targets[id] != nil {
                targets[id]!.isOpen = false
                targets[id]!.start = .scratch
            }
            return []
        case .noChange, .add:
            guard change.targetIDs.isEmpty else { return [] }
            return ids.compactMap { id in
                guard let target = targets[id], target.isOpen, target.documents > 0 else {
                    return nil
                }
                targets[id]!.documents = 0
                return Bill(
                    targetID: target.targetID, reads: target.documents, isOpening: false,
                    time: change.readTime)
            }
        }
    }

    /// The first answer is whole.
    private mutating func settle(_ id: Int32, _ time: Timestamp?, _ rows: Rows) -> Bill? {
        guard let target = targets[id], !target.isOpen else { return nil }
        targets[id]!.isOpen = true
        targets[id]!.documents = 0
        let reads: Int
        switch target.start {
        case .scratch:
            let entries = target.query.map {
                ReadBilling.entries(of: $0, rows: target.documents)
            }
            reads = max(1, target.documents) + (entries ?? 0)
        case .resumed(let asOf):
            let away = (time ?? asOf).duration(since: asOf)
            reads =
                away <= ReadBilling.resumeWindow
                ? target.documents : max(1, target.counted ?? rows(id))
        }
        if reads == 0 { return nil }
        return Bill(targetID: target.targetID, reads: reads, isOpening: true, time: time)
    }
}

/// When streams ended, by the last snapshot that each had told: a token of a listen on which nothing
/// happened is older than the time at which it was cut.
struct ListenEndings: Equatable, Sendable {
    static let capacity = 100

    private var times: [Timestamp: Timestamp] = [:]
    private var order: [Timestamp] = []

    mutating func note(_ time: Timestamp, snapshot: Timestamp) {
        if times.updateValue(time, forKey: snapshot) == nil { order.append(snapshot) }
        if order.count > Self.capacity { times[order.removeFirst()] = nil }
    }

    /// Until when a target was listened to whose rows are as of `snapshot`.
    func end(of snapshot: Timestamp) -> Timestamp { max(snapshot, times[snapshot] ?? snapshot) }
}
