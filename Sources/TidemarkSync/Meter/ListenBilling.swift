import TidemarkModel

/// Computes the cost of one listen stream, target by target. It receives every message before the
/// message is applied.
///
/// A first answer costs as much as a query. A resumed listen costs the changed documents if the
/// listener was away for less than half an hour. After that it costs the whole result, whatever is
/// sent. Both times are the server's: the time of the last snapshot before, and of the first one
/// after. Each stream has a new value of this type.
struct ListenBilling: Equatable, Sendable {
    /// The state of a target's rows on this device at the start of a listen.
    enum Start: Equatable, Sendable {
        case scratch
        case resumed(Timestamp)
    }

    /// The cost of one target at one moment.
    struct Bill: Equatable, Sendable {
        var targetID: Int32
        var reads: Int
        /// True for the first answer, and false for a later change.
        var isOpening: Bool
        /// The server's time; nil if the server sent none.
        var time: Timestamp?
    }

    private struct Target: Equatable, Sendable {
        let targetID: Int32
        let query: Query?
        var start: Start
        /// The number of documents since the last bill.
        var documents = 0
        var isOpen = false
        /// The number of rows that the server reported.
        var counted: Int?
    }

    /// Returns true if a target received this version since the last snapshot.
    typealias IsRepeated = (_ wireID: Int32, Document) -> Bool
    /// Returns the number of a target's rows, with everything sent until now.
    typealias Rows = (_ wireID: Int32) -> Int

    private var targets: [Int32: Target] = [:]

    mutating func begin(
        _ wireID: Int32, targetID: Int32, kind: ListenTarget.Kind, from start: Start
    ) {
        var query: Query?
        if case .query(let asked) = kind { query = asked }
        targets[wireID] = Target(targetID: targetID, query: query, start: start)
    }

    /// Ends a target after its last listener left. The sent documents are billed, although the
    /// answer was not complete.
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
            // A document that leaves because it changed is sent too, and costs as much.
            for id in change.targetIDs { count(change.document, for: id, isRepeated) }
            for id in change.removedTargetIDs { count(change.document, for: id, isRepeated) }
            return []
        case .existenceFilter(let filter):
            targets[filter.targetID]?.counted = Int(filter.count)
            return []
        case .targetChange(let change): return receive(change, rows)
        // A message that only names a removed document is free.
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
            return ids.compactMap { settle($0, time: change.readTime, rows: rows) }
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

    /// Bills the first answer when it is complete.
    private mutating func settle(_ id: Int32, time: Timestamp?, rows: Rows) -> Bill? {
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

/// The ends of streams, by the last snapshot of each. The token of a listen without changes is
/// older than the time at which its stream ended.
struct ListenEndings: Equatable, Sendable {
    static let capacity = 100

    private var times: [Timestamp: Timestamp] = [:]
    private var order: [Timestamp] = []

    mutating func note(_ time: Timestamp, snapshot: Timestamp) {
        if times.updateValue(time, forKey: snapshot) == nil { order.append(snapshot) }
        if order.count > Self.capacity { times[order.removeFirst()] = nil }
    }

    /// Returns the time until which a target with rows as of `snapshot` was listened to.
    func end(of snapshot: Timestamp) -> Timestamp { max(snapshot, times[snapshot] ?? snapshot) }
}
