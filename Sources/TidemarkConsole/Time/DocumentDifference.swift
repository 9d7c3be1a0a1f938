import TidemarkModel

/// The changes of a document between two moments, field by field.
struct VersionDifference: Encodable {
    let path: String
    let fields: [Field]
    let existedBefore: Bool
    let existsAfter: Bool

    /// The maximum number of listed fields of a document.
    static let maxFields = 100

    struct Field: Encodable {
        let name: String
        let before: Value?
        let after: Value?

        private enum Key: String, CodingKey { case name, before, after }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(name, forKey: .name)
            try container.encodeIfPresent(before.map(ValueJSON.init), forKey: .before)
            try container.encodeIfPresent(after.map(ValueJSON.init), forKey: .after)
        }
    }

    init(_ path: DocumentPath, before: Document?, after: Document?) {
        self.path = path.text
        existedBefore = before != nil
        existsAfter = after != nil
        let fields = Self.fields(
            before?.fields ?? MapValue(), after: after?.fields ?? MapValue(), prefix: "")
        self.fields = Array(fields.prefix(Self.maxFields))
    }

    /// Compares maps field by field, and other values as a whole and to the last bit.
    private static func fields(_ before: MapValue, after: MapValue, prefix: String) -> [Field] {
        var names = before.entries.map(\.key)
        for entry in after.entries where before[entry.key] == nil { names.append(entry.key) }
        return names.flatMap { name -> [Field] in
            let (old, new) = (before[name], after[name])
            if case .map(let old)? = old, case .map(let new)? = new {
                return fields(old, after: new, prefix: prefix + name + ".")
            }
            if let old, let new, FieldsCodec.encode(old) == FieldsCodec.encode(new) { return [] }
            return [Field(name: prefix + name, before: old, after: new)]
        }
    }

    /// True if the document is unchanged.
    var isNone: Bool { fields.isEmpty && existedBefore == existsAfter }

    var word: String {
        switch (existedBefore, existsAfter) {
        case (false, true): "created"
        case (true, false): "deleted"
        case (true, true): "changed"
        case (false, false): "created and deleted"
        }
    }

    /// Returns a table of the values before and after.
    func html(caption: String) -> HTML {
        Tag.table(.class("fields difference")) {
            Tag.caption { caption }
            Tag.thead {
                Tag.tr {
                    for name in ["Field", "Before", "After"] { Tag.th(.scope("col")) { name } }
                }
            }
            Tag.tbody {
                for field in fields {
                    Tag.tr {
                        Tag.th(.scope("row")) { Tag.bdi { field.name } }
                        cell(field.before, .class("value before"))
                        cell(field.after, .class("value after"))
                    }
                }
            }
        }
    }

    private func cell(_ value: Value?, _ attribute: Attribute) -> HTML {
        Tag.td(attribute) {
            if let value {
                let text = ValueText(value, limit: 300)
                Tag.bdi(.ownDirection) { text.text }
                HTML(" ")
                Tag.small { text.kind }
            } else {
                "–"
            }
        }
    }
}
