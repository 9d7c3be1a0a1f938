import TidemarkModel

// Indexes in the form of the entries of `firestore.indexes.json`.

extension CompositeIndex {
    /// The tree with `__name__`, as Firebase's own tools write it.
    var tree: JSONTree {
        .object([
            "collectionGroup": .text(group.text), "queryScope": .text(scope.rawValue),
            "fields": .list(fields.map(\.tree)),
        ])
    }
}

extension IndexedField {
    fileprivate var tree: JSONTree {
        .object(mode.entries.merging(["fieldPath": .text(path.encoded)]) { first, _ in first })
    }
}

extension IndexedField.Mode {
    fileprivate var entries: [String: JSONTree] {
        switch self {
        case .ordered(.ascending): ["order": .text("ASCENDING")]
        case .ordered(.descending): ["order": .text("DESCENDING")]
        case .contains: ["arrayConfig": .text("CONTAINS")]
        case .vector(let dimension):
            [
                "vectorConfig": .object([
                    "dimension": .integer(Int64(dimension)), "flat": .object([:]),
                ])
            ]
        }
    }
}

extension FieldOverride.Index {
    var tree: JSONTree {
        .object(mode.entries.merging(["queryScope": .text(scope.rawValue)]) { first, _ in first })
    }
}

extension JSONTree {
    func isOverride(of field: FieldPath, in group: ByteString) -> Bool {
        guard let fields, let path = fields["fieldPath"].text,
            let named = fields["collectionGroup"].text, ByteString(named) == group
        else { return false }
        return (try? FieldPath(encoded: path)) == field
    }

    /// The list in the order of collection, scope and fields, so a file's history shows only the
    /// additions.
    var sortedIndexes: JSONTree {
        guard case .list(let values) = self else { return self }
        let keyed = values.enumerated().map { (key: $1.sortKey, number: $0, tree: $1) }
        let sorted = keyed.sorted { a, b in
            switch Comparison.bytes(a.key, b.key) {
            case .ascending: true
            case .descending: false
            case .equal: a.number < b.number
            }
        }
        return .list(sorted.map(\.tree))
    }

    /// The separator between two parts sorts below all characters of a name.
    private var sortKey: String {
        guard let fields else { return "" }
        let paths = fields["fields"].elements.flatMap { part in
            [
                part.fields?["fieldPath"].text ?? "", part.fields?["order"].text ?? "",
                part.fields?["arrayConfig"].text ?? "",
            ]
        }
        let parts =
            [
                fields["collectionGroup"].text ?? "", fields["queryScope"].text ?? "",
                fields["fieldPath"].text ?? "",
            ] + paths
        return parts.joined(separator: "\n")
    }
}
