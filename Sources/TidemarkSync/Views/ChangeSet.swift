import TidemarkModel

/// The changes of one snapshot, at most one per document, independent of the number of steps.
struct ChangeSet {
    struct Change {
        var kind: ViewChange.Kind
        /// The row as it is now; for a removed row, its last state.
        var row: ViewRow
        /// The row before the first step; nil if it was absent.
        let old: ViewRow?
    }

    private var changes: [Change] = []
    /// The index of each document's change. It is empty while there are few changes, because then a
    /// search is faster than a hash of the path; this is the case for each write of a user.
    private var places: [DocumentPath: Int] = [:]
    /// True if there was no row before. Then all present rows are the change.
    private(set) var isEverything = false

    private static let few = 4

    /// The changes of a set whose rows are all new.
    static let everythingIsNew: ChangeSet = {
        var changes = ChangeSet()
        changes.isEverything = true
        return changes
    }()

    var isEmpty: Bool { changes.isEmpty && !isEverything }

    /// The earlier rows that were removed or replaced.
    var replaced: [ViewRow] { changes.compactMap(\.old) }
    /// The documents that became rows.
    var added: Set<DocumentPath> {
        Set(changes.lazy.filter { $0.kind == .added }.map(\.row.path))
    }

    mutating func reserveCapacity(_ count: Int) {
        changes.reserveCapacity(count)
        if count > Self.few { places.reserveCapacity(count) }
    }

    /// - Parameter old: The row before this step; nil if there was none.
    mutating func add(_ kind: ViewChange.Kind, _ row: ViewRow, from old: ViewRow?) {
        precondition(!isEverything)
        guard let place = place(of: row.path) else {
            return append(Change(kind: kind, row: row, old: old))
        }
        if let merged = Self.merged(changes[place].kind, kind) {
            changes[place].kind = merged
            changes[place].row = row
        } else {
            remove(at: place)
        }
    }

    /// Adds a new row.
    ///
    /// - Returns: False, without an effect, if there is already a change of its document.
    mutating func addNew(_ row: ViewRow) -> Bool {
        let change = Change(kind: .added, row: row, old: nil)
        guard changes.count > Self.few else {
            if place(of: row.path) != nil { return false }
            append(change)
            return true
        }
        // A single lookup, because there may be many thousands of rows.
        if let known = places.updateValue(changes.count, forKey: row.path) {
            places[row.path] = known
            return false
        }
        changes.append(change)
        return true
    }

    private func place(of path: DocumentPath) -> Int? {
        changes.count <= Self.few
            ? changes.firstIndex { $0.row.path == path } : places[path]
    }

    private mutating func append(_ change: Change) {
        changes.append(change)
        if changes.count == Self.few + 1 {
            for (place, change) in changes.enumerated() { places[change.row.path] = place }
        } else if changes.count > Self.few {
            places[change.row.path] = changes.count - 1
        }
    }

    /// Removes a change; the last change takes its index.
    private mutating func remove(at place: Int) {
        changes.swapAt(place, changes.count - 1)
        let removed = changes.removeLast()
        places[removed.row.path] = nil
        if !places.isEmpty, place < changes.count { places[changes[place].row.path] = place }
    }

    /// Returns nil if the two changes cancel each other.
    private static func merged(
        _ old: ViewChange.Kind, _ new: ViewChange.Kind
    ) -> ViewChange.Kind? {
        switch (old, new) {
        case (.added, .modified), (.added, .metadata): .added
        case (.added, .removed): nil
        case (.removed, .added): .modified
        case (.modified, .modified), (.modified, .metadata), (.metadata, .modified): .modified
        case (.metadata, .metadata): .metadata
        case (.modified, .removed), (.metadata, .removed): .removed
        case (.added, .added), (.modified, .added), (.metadata, .added), (.removed, .removed),
            (.removed, .modified), (.removed, .metadata):
            preconditionFailure("a document was \(old) and then \(new)")
        }
    }

    /// Returns the removed rows, then the added ones, then the others, each in the query's order.
    func sorted(_ order: RowOrder) -> [ViewChange] {
        if changes.count < 2 { return changes.map { ViewChange($0.kind, $0.row.document) } }
        func precedes(_ a: Change, _ b: Change) -> Bool {
            let (left, right) = (a.kind.rank, b.kind.rank)
            return left == right ? order.precedes(a.row, b.row) : left < right
        }
        func change(_ place: Int) -> ViewChange {
            ViewChange(changes[place].kind, changes[place].row.document)
        }
        // If one row displaces another, a sort of two changes would cost more than the rest.
        if changes.count == 2 {
            let first = precedes(changes[1], changes[0]) ? 1 : 0
            return [change(first), change(1 - first)]
        }
        return changes.sorted(by: precedes).map { ViewChange($0.kind, $0.row.document) }
    }
}

extension ViewChange.Kind {
    fileprivate var rank: Int {
        switch self {
        case .removed: 0
        case .added: 1
        case .modified, .metadata: 2
        }
    }
}
