// Sizes as Firestore's storage documentation computes them (server-protocol 2.1). They differ from
// the sizes on the wire and are the same for every client.

extension Document {
    /// Returns the size that counts against ``DocumentLimits/documentBytes``: the name, the fields
    /// and 32 bytes. Costs a pass over the fields.
    public static func storageSize(of fields: MapValue, at path: DocumentPath) -> Int {
        path.storageSize + fields.storageSize + 32
    }

    /// Checks a document after a mutation has been applied, because a patch adds to existing
    /// fields.
    ///
    /// - Parameter edition: The edition of the database, which has the limit.
    /// - Throws: ``RPCStatus`` of code `invalidArgument` if the document is over the limit.
    public static func validateSize(
        of fields: MapValue, at path: DocumentPath, in database: DatabaseID,
        edition: DatabaseEdition = .standard
    ) throws(RPCStatus) {
        let size = storageSize(of: fields, at: path)
        if size > edition.documentBytes {
            throw .invalidArgument(
                "Document '\(path.name(in: database))' cannot be written because its size "
                    + "(\(size.grouped) bytes) exceeds the maximum allowed size of "
                    + "\(edition.documentBytes.grouped) bytes.")
        }
    }
}

extension DocumentPath {
    /// The bytes of each segment plus one per segment, plus 16.
    public var storageSize: Int {
        // The slash between two segments counts as the extra byte of the first.
        text.utf8.count + 1 + 16
    }
}

extension MapValue {
    /// The bytes of each name plus one, plus the size of each value.
    public var storageSize: Int {
        entries.reduce(0) { $0 + $1.key.utf8.count + 1 + $1.value.storageSize }
    }
}

extension Value {
    public var storageSize: Int {
        switch self {
        case .null, .boolean: 1
        case .integer, .double, .timestamp, .pendingServerTimestamp: 8
        case .string(let value): value.utf8.count + 1
        case .bytes(let value): value.count
        case .reference(let value): value.path.storageSize
        case .geoPoint: 16
        case .array(let values): values.reduce(0) { $0 + $1.storageSize }
        case .vector(let value): value.array.count * 8
        case .map(let fields): fields.storageSize
        }
    }
}

extension Int {
    /// The decimal digits with a comma before every third digit from the end.
    fileprivate var grouped: String {
        let digits = Array(String(self).utf8)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result += "," }
            result.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return result
    }
}
