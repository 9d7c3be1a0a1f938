import TidemarkModel

// MARK: - Production's texts

extension MissingIndex {
    /// Production's status for a query that is only explained.
    static let notPlanned = RPCStatus(.failedPrecondition, "no matching index found.")

    /// Returns the refusal of a query. It has no details, as in production. Source: server-protocol
    /// 2.2.
    ///
    /// - Parameter hasManyRanges: True if the query has ranges or inequalities on several fields.
    func refusal(in database: DatabaseID, hasManyRanges: Bool) -> RPCStatus {
        var text: String
        switch self {
        case .composite(let index) where index.hasVector:
            text =
                "Missing vector index configuration. Please create the required index with the "
                + "following gcloud command: \(Self.command(index, database))"
        case .composite:
            text = "The query requires an index. You can create it here: \(link(in: database))"
            if hasManyRanges { text += Self.aboutRanges }
        case .singleField(let index):
            text =
                "The query requires a \(index.kind) index for collection \(index.group.text) and "
                + "field \(index.field.path.encoded). You can create it here: "
                + link(in: database)
        }
        return RPCStatus(.failedPrecondition, text)
    }

    private static let aboutRanges = """
         .
        The query contains range and inequality filters on multiple fields, please refer to the \
        documentation for index selection best practices: \
        https://cloud.google.com/firestore/docs/query-data/multiple-range-fields.
        """

    /// Returns the link that creates the index.
    func link(in database: DatabaseID) -> String {
        let page = "https://console.firebase.google.com/v1/r/project/\(database.project)"
        let kind =
            switch self {
            case .composite: "create_composite"
            case .singleField: "create_exemption"
            }
        return "\(page)/firestore/indexes?\(kind)=\(Base64URL.encode(message(in: database)))"
    }

    /// Returns the command that creates the index. Production was observed to omit the default
    /// database; another database is named here, because the command would otherwise be wrong.
    private static func command(_ index: CompositeIndex, _ database: DatabaseID) -> String {
        var words = [
            "gcloud firestore indexes composite create", "--project=\(database.project)",
        ]
        if database.database != "(default)" { words.append("--database=\(database.database)") }
        words.append("--collection-group=\(index.group.text)")
        words.append("--query-scope=\(index.scope.rawValue)")
        for field in index.fields where !field.path.isDocumentID {
            let path = "field-path=\(field.path.encoded)"
            switch field.mode {
            case .ordered(.ascending):
                words.append("--field-config=order=ASCENDING,\(path)")
            case .ordered(.descending):
                words.append("--field-config=order=DESCENDING,\(path)")
            case .contains: words.append("--field-config=array-config=CONTAINS,\(path)")
            case .vector(let dimension):
                words.append(
                    "--field-config=vector-config='{\"dimension\":\"\(dimension)\","
                        + "\"flat\": \"{}\"}',\(path)")
            }
        }
        return words.joined(separator: " ")
    }
}

// MARK: - The link

extension MissingIndex {
    /// Returns a message `google.firestore.admin.v1.Index`: name = 1, query_scope = 2, fields = 3.
    func message(in database: DatabaseID) -> [UInt8] {
        var writer = WireWriter(capacity: 128)
        let place = "\(database.name)/collectionGroups/\(group.text)"
        switch self {
        case .composite(let index):
            Self.write("\(place)/indexes/_", scope: index.scope, fields: index.fields, to: &writer)
        case .singleField(let index):
            let name = "\(place)/fields/\(index.field.path.encoded)"
            Self.write(name, scope: index.scope, fields: [index.field], to: &writer)
        }
        return writer.bytes
    }

    private static func write(
        _ name: String, scope: IndexScope, fields: [IndexedField], to writer: inout WireWriter
    ) {
        writer.text(1, name)
        writer.tag(2, 0)
        writer.varint(scope == .collection ? 1 : 2)
        for field in fields {
            writer.message(3) { writer in
                writer.text(1, field.path.encoded)
                switch field.mode {
                case .ordered(let direction):
                    writer.tag(2, 0)
                    writer.varint(direction == .ascending ? 1 : 2)
                case .contains:
                    writer.tag(3, 0)
                    writer.varint(1)
                case .vector(let dimension):
                    writer.message(4) { writer in
                        writer.tag(1, 0)
                        writer.varint(UInt64(dimension))
                        writer.message(2) { _ in }
                    }
                }
            }
        }
    }
}

/// Encodes base64 for links, without padding.
enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count * 4 + 2) / 3)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            bits <<= 8 * UInt32(3 - group.count)
            for part in 0...group.count {
                result.append(alphabet[Int(bits >> UInt32(18 - 6 * part)) & 63])
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
