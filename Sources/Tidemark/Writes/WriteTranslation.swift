/// Turns the data of `setData` and `updateData` into a mutation, by FirebaseFirestore's rules.
///
/// Files among the data are added to `files`, and are refused if it is nil.
enum WriteTranslation {
    /// Replaces the document.
    static func set(
        _ path: DocumentPath, _ data: [String: Any], files: FieldFiles? = nil
    ) throws(FirestoreError) -> Mutation {
        let parsed = try ValueParser.fields(data, files: files)
        if let field = parsed.deletions.first {
            throw .invalidArgument(
                "\(field): FieldValue.delete() needs updateData, or setData with merge.")
        }
        return Mutation(path: path, .set(parsed.fields), transforms: parsed.transforms)
    }

    /// Writes the given fields and leaves the others; creates the document if it does not exist.
    static func merge(
        _ path: DocumentPath, _ data: [String: Any], files: FieldFiles? = nil
    ) throws(FirestoreError) -> Mutation {
        let parsed = try ValueParser.fields(data, files: files)
        return Mutation(
            path: path, .patch(parsed.fields, mask: (parsed.leaves + parsed.deletions).sorted()),
            transforms: parsed.transforms)
    }

    /// Writes only the listed fields, each of which must be in the data.
    ///
    /// - Parameter names: Strings and field paths, in FirebaseFirestore's form.
    static func merge(
        _ path: DocumentPath, _ data: [String: Any], fields names: [Any]
    ) throws(FirestoreError) -> Mutation {
        var listed: [FieldPath] = []
        for name in names {
            guard let name = name as? any FieldName else {
                throw .invalidArgument("\(name) is neither a String nor a FieldPath.")
            }
            listed.append(try name.resolved())
        }
        try refuseOverlap(listed)
        let parsed = try ValueParser.fields(data)
        func isListed(_ field: FieldPath) -> Bool { listed.contains { $0.isPrefix(of: field) } }
        if let field = parsed.deletions.first(where: { !isListed($0) }) {
            throw .invalidArgument("\(field): FieldValue.delete() needs a field that is merged.")
        }
        var fields = MapValue()
        var mask: [FieldPath] = []
        for field in listed {
            fields[field] = parsed.fields[field]
            if parsed.fields[field] != nil || parsed.deletions.contains(field) {
                mask.append(field)
            } else if parsed.deletions.contains(where: field.isPrefix(of:)) {
                mask.append(field)
            } else if !parsed.transforms.contains(where: { field.isPrefix(of: $0.field) }) {
                throw .invalidArgument("\(field) is in the merge fields but not in the data.")
            }
        }
        return Mutation(
            path: path, .patch(fields, mask: mask.sorted()),
            transforms: parsed.transforms.filter { isListed($0.field) })
    }

    /// Changes the given fields of a document that exists.
    static func update(
        _ path: DocumentPath, _ data: [(name: any FieldName, value: Any)],
        files: FieldFiles? = nil
    ) throws(FirestoreError) -> Mutation {
        if data.isEmpty { throw .invalidArgument("An update needs at least one field.") }
        var changes: [(field: FieldPath, value: Any)] = []
        for (name, value) in data { changes.append((try name.resolved(), value)) }
        try refuseOverlap(changes.map(\.field))
        var fields = MapValue()
        var mask: [FieldPath] = []
        var transforms: [FieldTransform] = []
        for (field, any) in changes.sorted(by: { $0.field < $1.field }) {
            let (value, parsed) = try ValueParser.field(any, at: field, files: files)
            if let nested = parsed.deletions.first(where: { $0 != field }) {
                throw .invalidArgument(
                    """
                    \(nested): FieldValue.delete() cannot be inside a map of an update.
                    """)
            }
            fields[field] = value
            if parsed.transforms.first?.field != field { mask.append(field) }
            transforms += parsed.transforms
        }
        return Mutation(
            path: path, .patch(fields, mask: mask), transforms: transforms,
            precondition: .exists(true))
    }

    /// Refuses two paths of which one contains the other, because it would be undefined which path
    /// counts.
    private static func refuseOverlap(_ fields: [FieldPath]) throws(FirestoreError) {
        let sorted = fields.sorted()
        for (a, b) in zip(sorted, sorted.dropFirst()) where a.isPrefix(of: b) {
            throw .invalidArgument("\(a) and \(b) overlap in the same call.")
        }
    }
}
