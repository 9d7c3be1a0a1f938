import TidemarkModel

/// Functions of references, and the size of values.
enum References {
    static let functions: [Function] = [
        .ofOne("document_id") { value throws(Fault) in
            // A path as a string works too.
            if case .string(let path) = value {
                return .string(path.split(separator: "/").last.map(String.init) ?? "")
            }
            return .string(try value.reference(in: "document_id").path.id)
        },
        .ofOne("collection_id") { value throws(Fault) in
            .string(try value.reference(in: "collection_id").path.collectionID)
        },
        .ofOne("parent") { value throws(Fault) in
            let reference = try value.reference(in: "parent")
            guard let parent = reference.path.parent.parent else { return .null }
            return .value(.reference(ReferenceValue(database: reference.database, path: parent)))
        },
        .ofValues("reference_slice", takes: 3...3) { values, _ throws(Fault) in
            let reference = try values[0].reference(in: "reference_slice")
            let segments = reference.path.segments
            let length = try values[2].count(of: "length", in: "reference_slice")
            let range = StringParts.clamped(
                try values[1].integer(in: "reference_slice"), Int64(length),
                count: segments.count / 2)
            if range.isEmpty { return .null }
            let text = segments[range.lowerBound * 2..<range.upperBound * 2]
            let path = DocumentPath(unchecked: text.joined(separator: "/"))
            return .value(.reference(ReferenceValue(database: reference.database, path: path)))
        },
        .ofOutcomes("storage_size", takes: 1...1) { values in
            switch values[0] {
            case .absent: .null
            // Production counts 29 for a reference to `books/book1`, one more than Google's page.
            case .value(.reference(let reference)): .integer(reference.path.storageSize + 1)
            case .value(let value): .integer(value.storageSize)
            case .error: values[0]
            }
        },
    ]
}
