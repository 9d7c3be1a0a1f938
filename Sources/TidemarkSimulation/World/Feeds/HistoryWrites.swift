import TidemarkModel

/// What may become of an item of a history.
enum HistoryChange {
    case insert, edit, move
    /// Marked as deleted, and no longer.
    case delete, restore
    /// Really deleted.
    case erase
    /// Out of the feed's filters, and in.
    case leave, join
    /// Committed up to 55 s after their time of change.
    case slowInsert, slowEdit

    /// The usual ones, and those that only some histories have.
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

/// All that was written in a history.
struct HistoryWrites {
    /// Every version that anybody wrote, by its number.
    private(set) var versions: [Int64: DocumentPath] = [:]
    private(set) var paths: [DocumentPath] = []
    /// Those that were in any item.
    private(set) var itemTimes: [Timestamp] = []
    /// Item times with the times of the commits that wrote them.
    private(set) var arrivals: [(itemTime: Timestamp, commitTime: Timestamp)] = []
    /// Documents that were written more than once, or deleted.
    private(set) var changed: Set<DocumentPath> = []
    /// Documents whose item time was written more than once.
    private(set) var moved: Set<DocumentPath> = []
    /// Documents that a device of the history has written.
    private(set) var own: Set<DocumentPath> = []
    /// Commits and batches, by anybody.
    private(set) var count = 0
    /// Documents that may have gone in a way that a feed of changes does not see.
    private(set) var vanished: Set<DocumentPath> = []
    private var written: Set<DocumentPath> = []
    private var lastPath = 0

    /// A number that no other version has, so large that no two sums of some are equal by chance.
    mutating func nextNumber(_ dice: inout SeededRandom) -> Int64 {
        Int64.random(in: 1 << 30..<1 << 42, using: &dice)
    }

    /// Names are in no order.
    mutating func nextPath(_ dice: inout SeededRandom) -> DocumentPath {
        lastPath += 1
        let letter = dice.pick(["a", "k", "z"])
        let path = DocumentPath(unchecked: "\(FeedHistory.items)/\(letter)\(lastPath)")
        paths.append(path)
        return path
    }

    /// Queued on a device; when it is committed is not known.
    mutating func begun(_ mutation: Mutation) {
        count += 1
        own.insert(mutation.path)
        note(mutation, nil)
    }

    /// What a device wrote has a time at the server.
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
    /// Whether its item's time is the server's.
    fileprivate var setsItemTime: Bool {
        transforms.contains { $0.field == FieldPath(name: "createdAt") }
    }
}
