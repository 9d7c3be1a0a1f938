import TidemarkModel

/// The changes that can happen to an item of a history.
enum HistoryChange {
    case insert, edit, move
    /// Marks the item as deleted, or removes the mark.
    case delete, restore
    /// Deletes the document.
    case erase
    /// Moves the item out of the feed's filters, or into them.
    case leave, join
    /// Commits up to 55 s after the change time.
    case slowInsert, slowEdit

    /// Returns the usual changes, and the rare ones that only some histories have.
    static func kinds(
        of way: HistoryWay, hasFilter: Bool
    ) -> (usual: [(Self, Int)], rare: [(Self, Int)]) {
        let crossing: [(Self, Int)] = hasFilter ? [(.leave, 3), (.join, 3)] : []
        switch way {
        case .changeTime, .countedChangeTime:
            return (
                [(.insert, 12), (.edit, 6)],
                [
                    (.move, 3), (.delete, 4), (.restore, 2), (.erase, 2), (.slowInsert, 3),
                    (.slowEdit, 2),
                ] + crossing
            )
        case .versionAudit, .countAudit:
            return ([(.insert, 12)], [(.edit, 5), (.move, 3), (.erase, 4)] + crossing)
        case .itemTime:
            return ([(.insert, 12)], [(.edit, 2), (.move, 1), (.erase, 1)])
        }
    }
}

/// The writes of a history.
struct HistoryWrites {
    /// Every version that was written, by its number.
    private(set) var versions: [Int64: DocumentPath] = [:]
    private(set) var paths: [DocumentPath] = []
    /// The item times that were written.
    private(set) var itemTimes: [Timestamp] = []
    /// The item times with the commit times of their writes.
    private(set) var arrivals: [(itemTime: Timestamp, commitTime: Timestamp)] = []
    /// The documents that were written more than once, or deleted.
    private(set) var changed: Set<DocumentPath> = []
    /// The documents whose item time was written more than once.
    private(set) var moved: Set<DocumentPath> = []
    /// The documents that a device of the history has written.
    private(set) var own: Set<DocumentPath> = []
    /// The number of commits and batches of all clients.
    private(set) var count = 0
    /// The documents that may have disappeared without a change that a feed of changes sees.
    private(set) var vanished: Set<DocumentPath> = []
    private var written: Set<DocumentPath> = []
    private var lastPath = 0

    /// Returns a number that no other version has. The numbers are so large that equal sums by
    /// chance are improbable.
    mutating func nextNumber(_ dice: inout SeededRandom) -> Int64 {
        Int64.random(in: 1 << 30..<1 << 42, using: &dice)
    }

    /// Returns a new path. Paths are in random order.
    mutating func nextPath(_ dice: inout SeededRandom) -> DocumentPath {
        lastPath += 1
        let letter = dice.pick(["a", "k", "z"])
        let path = DocumentPath(unchecked: "\(FeedHistory.items)/\(letter)\(lastPath)")
        paths.append(path)
        return path
    }

    /// Records a write queued on a device. Its commit time is not known yet.
    mutating func begun(_ mutation: Mutation) {
        count += 1
        own.insert(mutation.path)
        note(mutation, nil)
    }

    /// Records the commit time of a device's write.
    mutating func acknowledged(_ mutation: Mutation, at commitTime: Timestamp) {
        noteArrival(mutation, commitTime)
    }

    mutating func committed(_ mutations: [Mutation], at time: Timestamp) {
        count += 1
        for mutation in mutations { note(mutation, time) }
    }

    private mutating func note(_ mutation: Mutation, _ commitTime: Timestamp?) {
        let isNew = written.insert(mutation.path).inserted
        if !isNew { changed.insert(mutation.path) }
        let fields: MapValue
        switch mutation.operation {
        case .set(let all): fields = all
        case .patch(let some, _): fields = some
        case .delete, .verify:
            changed.insert(mutation.path)
            vanished.insert(mutation.path)
            return
        }
        if fields["room"] == .integer(2) { vanished.insert(mutation.path) }
        if case .integer(let number)? = fields["v"] { versions[number] = mutation.path }
        if case .timestamp(let time)? = fields["createdAt"] { itemTimes.append(time) }
        let sets = mutation.setsItemTime
        if !isNew, sets || fields["createdAt"] != nil { moved.insert(mutation.path) }
        guard let commitTime else { return }
        if sets { itemTimes.append(commitTime) }
        noteArrival(mutation, commitTime)
    }

    private mutating func noteArrival(_ mutation: Mutation, _ commitTime: Timestamp) {
        switch mutation.operation {
        case .set(let fields), .patch(let fields, _):
            if case .timestamp(let time)? = fields["createdAt"] {
                arrivals.append((time, commitTime))
            }
        case .delete, .verify: return
        }
        if mutation.setsItemTime { arrivals.append((commitTime, commitTime)) }
    }
}

extension Mutation {
    /// True if the server sets the item's time.
    fileprivate var setsItemTime: Bool {
        transforms.contains { $0.field == FieldPath(name: "createdAt") }
    }
}
