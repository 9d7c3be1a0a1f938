package import TidemarkModel

/// A target that another client has stored: a query with its resume token, and the time as of which
/// the rows that are stored beside it are its whole result.
package struct StoredTarget: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case query(Query)
        case document(DocumentPath)
    }

    package private(set) var id: Int32 = 0
    /// The epoch if the server has never answered.
    package private(set) var version = Timestamp.epoch
    /// Empty for the result of a bundle, and if the server has never answered.
    package private(set) var resumeToken: [UInt8] = []
    /// The number of the last use; later uses have higher numbers.
    package private(set) var lastUse: Int64 = 0
    package let database: DatabaseID
    package let content: Content

    /// - Throws: The reason why the target cannot be asked of a server as it was. Unknown parts are
    ///   such a reason.
    package init(_ bytes: [UInt8]) throws(RPCStatus) {
        let parts = try StoredParts(bytes)
        switch (parts.query, parts.documents) {
        case (let message?, nil):
            let (parent, query) = try StoredQuery.parts(message)
            database = try Names.database(of: parent, .parent)
            content = .query(try Query(parent: parent, query, Names(database)))
        case (nil, let message?):
            let names = try StoredQuery.names(message)
            guard names.count == 1 else {
                throw .invalidArgument("It has \(names.count) documents.")
            }
            database = try Names.database(of: names[0])
            content = .document(try Names(database).document(names[0]))
        default: throw .invalidArgument("Its kind is unknown.")
        }
        (id, version, resumeToken, lastUse) =
            (parts.id, parts.version, parts.resumeToken, parts.lastUse)
    }
}

/// A query of a bundle that another client has stored, by its name.
package struct StoredNamedQuery: Hashable, Sendable {
    package let name: String
    package let database: DatabaseID
    package let query: Query

    /// - Throws: The reason why the query cannot be run as it was.
    package init(_ bytes: [UInt8]) throws(RPCStatus) {
        var (name, bundled): (String, [UInt8]?) = ("", nil)
        try StoredQuery.read(bytes) { tag, reader throws(CodecError) in
            switch tag {
            case 1 << 3 | 2: name = try reader.text()
            case 2 << 3 | 2: bundled = Array(try reader.lengthDelimited())
            default: try reader.skip(tag)
            }
        }
        guard let bundled else { throw .invalidArgument("It has no query.") }
        let (parent, wire) = try StoredQuery.parts(bundled)
        var isFromEnd = false
        try StoredQuery.read(bundled) { tag, reader throws(CodecError) in
            if tag == 3 << 3 | 0 {
                isFromEnd = try reader.varint() == 1
            } else {
                try reader.skip(tag)
            }
        }
        self.name = name
        database = try Names.database(of: parent, .parent)
        var query = try Query(parent: parent, wire, Names(database))
        if isFromEnd, case .first(let count)? = query.limit { query.limit = .last(count) }
        self.query = query
    }
}

/// The parts of a stored target.
private struct StoredParts {
    var id: Int32 = 0
    var version = Timestamp.epoch
    var resumeToken: [UInt8] = []
    var lastUse: Int64 = 0
    var query: [UInt8]?
    var documents: [UInt8]?

    init(_ bytes: [UInt8]) throws(RPCStatus) {
        var hasUnknownParts = false
        try StoredQuery.read(bytes) { tag, reader throws(CodecError) in
            switch tag {
            case 1 << 3 | 0: id = Int32(truncatingIfNeeded: try reader.varint())
            case 2 << 3 | 2:
                var inner = try reader.message()
                version = try FieldsCodec.timestamp(&inner)
            case 3 << 3 | 2: resumeToken = Array(try reader.lengthDelimited())
            case 4 << 3 | 0: lastUse = Int64(bitPattern: try reader.varint())
            case 5 << 3 | 2: query = Array(try reader.lengthDelimited())
            case 6 << 3 | 2: documents = Array(try reader.lengthDelimited())
            // The last version without documents in doubt, which says nothing about the rows.
            case 7 << 3 | 2: _ = try reader.lengthDelimited()
            default:
                hasUnknownParts = true
                try reader.skip(tag)
            }
        }
        if hasUnknownParts { throw .invalidArgument("It has unknown parts.") }
    }
}

private enum StoredQuery {
    static func read(
        _ bytes: [UInt8], _ field: (UInt64, inout WireReader) throws(CodecError) -> Void
    ) throws(RPCStatus) {
        let isRead = bytes.withUnsafeBufferPointer { buffer in
            var reader = WireReader(buffer)
            do throws(CodecError) {
                while !reader.isAtEnd { try field(try reader.tag(), &reader) }
                return true
            } catch { return false }
        }
        if !isRead { throw .invalidArgument("It cannot be read.") }
    }

    /// Reads 1 a parent and 2 a query.
    static func parts(_ bytes: [UInt8]) throws(RPCStatus) -> (String, StructuredQueryMessage) {
        var (parent, query): (String, [UInt8]) = ("", [])
        try read(bytes) { tag, reader throws(CodecError) in
            switch tag {
            case 1 << 3 | 2: parent = try reader.text()
            case 2 << 3 | 2: query = Array(try reader.lengthDelimited())
            default: try reader.skip(tag)
            }
        }
        let wire = try StructuredQueryMessage(wire: query)
        guard !wire.hasUnknownParts else { throw .invalidArgument("It has unknown parts.") }
        return (parent, wire)
    }

    /// Reads 2 the names of documents.
    static func names(_ bytes: [UInt8]) throws(RPCStatus) -> [String] {
        var names: [String] = []
        try read(bytes) { tag, reader throws(CodecError) in
            if tag == 2 << 3 | 2 { names.append(try reader.text()) } else { try reader.skip(tag) }
        }
        return names
    }
}

extension StructuredQueryMessage {
    var hasUnknownParts: Bool {
        hasUnknownFields || startAt?.hasUnknownFields == true || endAt?.hasUnknownFields == true
            || from.contains(where: \.hasUnknownFields)
            || orderBy.contains { $0.hasUnknownFields || $0.field?.hasUnknownFields == true }
            || self.where?.hasUnknownParts == true
    }
}

extension FilterMessage {
    /// Protobuf's limit of 100 nested messages bounds the depth.
    fileprivate var hasUnknownParts: Bool {
        if hasUnknownFields { return true }
        if let fieldFilter { return fieldFilter.hasUnknownFields }
        if let unaryFilter { return unaryFilter.hasUnknownFields }
        guard let compositeFilter else { return true }
        return compositeFilter.hasUnknownFields
            || compositeFilter.filters.contains(where: \.hasUnknownParts)
    }
}
