package import TidemarkModel

/// Two names of a map that are two fields of Firestore and one key of a Swift dictionary, because
/// they differ only in how an accent is composed.
package enum TwinNames {
    /// Returns the field that a write would remove without naming it: the write replaces a map that
    /// has two such names, and its own map has only one of them, as a dictionary has.
    ///
    /// - Parameter document: The document before the write.
    /// - Returns: The path of the field; nil for none.
    package static func lost(by mutation: Mutation, from document: @autoclosure () -> MapValue?)
        -> FieldPath?
    {
        switch mutation.operation {
        case .set(let fields):
            guard hasAccents(.map(fields)), let document = document() else { return nil }
            return lost(document, fields, []).map { FieldPath(unchecked: $0) }
        case .patch(let fields, let mask):
            guard hasAccents(.map(fields)), let document = document() else { return nil }
            for field in mask {
                guard let old = document[field], let new = fields[field],
                    let path = lost(old, new, field.segments)
                else { continue }
                return FieldPath(unchecked: path)
            }
            return nil
        case .delete, .verify: return nil
        }
    }

    /// Returns true if a name in the value is not ASCII: only such a name can have a twin.
    private static func hasAccents(_ value: Value) -> Bool {
        switch value {
        case .map(let map):
            map.entries.contains {
                !$0.key.utf8.allSatisfy { $0 < 0x80 } || hasAccents($0.value)
            }
        case .array(let values): values.contains(where: hasAccents)
        default: false
        }
    }

    private static func lost(_ old: Value, _ new: Value, _ place: [String]) -> [String]? {
        switch (old, new) {
        case (.map(let old), .map(let new)): return lost(old, new, place)
        case (.array(let old), .array(let new)):
            for (old, new) in zip(old, new) {
                if let path = lost(old, new, place) { return path }
            }
            return nil
        default: return nil
        }
    }

    private static func lost(_ old: MapValue, _ new: MapValue, _ place: [String]) -> [String]? {
        for entry in old.entries {
            guard let value = new[entry.key] else {
                let isTwin =
                    entry.key.utf8.contains { $0 >= 0x80 }
                    && new.entries.contains {
                        // Swift's equality, on purpose: a dictionary has one of the two.
                        $0.key == entry.key && old[$0.key] != nil
                    }
                if isTwin { return place + [entry.key] }
                continue
            }
            if let path = lost(entry.value, value, place + [entry.key]) { return path }
        }
        return nil
    }

    /// The refusal of a write that would remove a field without naming it.
    package static func refusal(_ field: FieldPath, of path: DocumentPath) -> SyncError {
        let names = field.segments.map { name in
            "\"" + name.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
        }.joined(separator: ", ")
        return .invalidArgument(
            """
            \(path) has two fields whose names differ only in how an accent is composed. A Swift \
            dictionary has one key for both, so that this write would remove FieldPath([\(names)]) \
            unnamed. Write with merge, or by updateData with a FieldPath for each field; delete the \
            field first where it is to go.
            """)
    }
}
