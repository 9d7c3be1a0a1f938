import TidemarkModel

/// The changes of one snapshot, one a document, however many steps made them.
struct ChangeSet: Equatable {
    private(set) var changes: [DocumentPath: ViewChange] = [:]

    var isEmpty: Bool { changes.isEmpty }

    mutating func add(_ kind: ViewChange.Kind, _ document: ViewDocument) {
        guard let old = changes[document.path]?.kind else {
            changes[document.path] = ViewChange(kind, document)
            return
        }
        changes[document.path] = Self.merged(old, kind).map { ViewChange($0, document) }
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
    func sorted(_ query: Query, _ order: RowOrder) -> [ViewChange] {
        if changes.count <= 1 { return Array(changes.values) }
        let rows = changes.values.map { change in
            (change, ViewRow(change.document, change.document.document.fields, order))
        }
        return rows.sorted { a, b in
            let (left, right) = (a.0.kind.rank, b.0.kind.rank)
            return left == right ? order.precedes(a.1, b.1) : left < right
        }.map(\.0)
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
