// Sizes as Firestore's documentation of storage reckons them (server-protocol 2.1): not what a value
// takes on the wire, and the same for every client.

extension Document {
    /// What the document counts against ``DocumentLimits/documentBytes``: its name, its fields and 32
    /// bytes. Costs a pass over the fields.
    public static func storageSize(of fields: MapValue, at path: DocumentPath) -> Int {
        path.storageSize + fields.storageSize + 32
    }

    /// - Throws: ``RPCStatus`` of code `invalidArgument` when the document is over the limit: to be
    ///   asked of what a mutation made, because a patch adds to what is there.
    public static func validateSize(
        of fields: MapValue, at path: DocumentPath, in database: DatabaseID
    ) throws(RPCStatus) {
        let size = storageSize(of: fields, at: path)
        if size > DocumentLimits.documentBytes {
            throw .invalidArgument(
                "Document '\(path.name(in: database))' cannot be written because its size "
                    + "(\(size.grouped) bytes) exceeds the maximum allowed size of "
                    + "\(DocumentLimits.documentBytes.grouped) bytes.")
        }
    }
}

extension DocumentPath {
    /// Each segment's bytes and one more, and 16.
    public var storageSize: Int {
        // A slash between two segments stands for the one byte of the first.
        text.utf8.count + 1 + 16
    }
}

extension MapValue {
    /// Each name's bytes, one more, and the value.
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
    /// With a comma before every third digit from the end.
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
