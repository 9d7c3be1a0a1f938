import TidemarkModel

/// The changes of one snapshot, one a document, however many steps made them.
struct ChangeSet: Equatable {
    struct Change: Equatable {
        var kind: ViewChange.Kind
        /// As it is now or, when it was removed, as it was last.
        var row: ViewRow
        /// As it was before the first step; nil when it was not there.
        let old: ViewRow?
    }

    private var changes: [DocumentPath: Change] = [:]
    /// Whether there was no row before, and those that are there now are the change.
    private(set) var isEverything = false

    /// All rows there are, of which none was there before.
    static let everythingIsNew: ChangeSet = {
        var changes = ChangeSet()
        changes.isEverything = true
        return changes
    }()

    var isEmpty: Bool { changes.isEmpty && !isEverything }

    /// The rows of before that are there no more, or are others now.
    var replaced: [ViewRow] { changes.values.compactMap(\.old) }
    /// The documents that are rows only now.
    var added: Set<DocumentPath> {
        Set(changes.lazy.filter { $0.value.kind == .added }.map(\.key))
    }

    mutating func reserveCapacity(_ count: Int) { changes.reserveCapacity(count) }

    /// - Parameter old: The row before this step; nil when there was none.
    mutating func add(_ kind: ViewChange.Kind, _ row: ViewRow, from old: ViewRow?) {
        precondition(!isEverything)
        guard let known = changes[row.path] else {
            changes[row.path] = Change(kind: kind, row: row, old: old)
            return
        }
        changes[row.path] = Self.merged(known.kind, kind).map {
            Change(kind: $0, row: row, old: known.old)
        }
    }

    /// A row where none was before.
    ///
    /// - Returns: False, with nothing done, when there is a change of its document already.
    mutating func addNew(_ row: ViewRow) -> Bool {
        let change = Change(kind: .added, row: row, old: nil)
        guard let known = changes.updateValue(change, forKey: row.path) else { return true }
        changes[row.path] = known
        return false
    }

    /// Nil when the two cancel out.
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

    /// Removed, added, then the others, each in the query's order.
    func sorted(_ order: RowOrder) -> [ViewChange] {
        var all = Array(changes.values)
        if all.count > 1 {
            all.sort { a, b in
                let (left, right) = (a.kind.rank, b.kind.rank)
                return left == right ? order.precedes(a.row, b.row) : left < right
            }
        }
        return all.map { ViewChange($0.kind, $0.row.document) }
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
