import TidemarkModel

/// The custom metadata of an object: texts by their names.
///
/// Names are compared by their bytes, so names that differ only in how an accent is composed are
/// different, as in Cloud Storage. Swift's dictionaries of texts would keep one of them.
package struct CustomMetadata: Hashable, Sendable {
    private var texts: [ByteString: String] = [:]

    package init() {}

    package var isEmpty: Bool { texts.isEmpty }

    package subscript(name: String) -> String? {
        get { texts[ByteString(name)] }
        set { texts[ByteString(name)] = newValue }
    }

    /// The texts, in the byte order of their names.
    package var inOrder: [(name: String, text: String)] {
        texts.map { (name: $0.key.text, text: $0.value) }
            .sorted { $0.name.precedesInBytes($1.name) }
    }
}

extension CustomMetadata: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, text) in elements { self[name] = text }
    }
}

extension CustomMetadata: Codable {
    /// Reads an object, or a list of names and texts in turn.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let object = try? container.decode([String: String].self) {
            for (name, text) in object { self[name] = text }
            return
        }
        let list = try container.decode([String].self)
        for place in stride(from: 0, to: list.count - 1, by: 2) {
            self[list[place]] = list[place + 1]
        }
    }

    /// Writes an object, or a list if an object would lose a name: Foundation's encoder collects an
    /// object in a dictionary of texts.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let object = Dictionary(inOrder.map { ($0.name, $0.text) }) { $1 }
        if object.count == texts.count {
            try container.encode(object)
        } else {
            try container.encode(inOrder.flatMap { [$0.name, $0.text] })
        }
    }
}
