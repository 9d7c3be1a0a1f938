// The checks that a server makes before it stores data. Error texts are production's where they are
// known.

extension MapValue {
    /// The fields in their stored form: timestamps are cut to microseconds, at any depth. Firestore
    /// normalizes fields before it validates them and before it compares them with the stored
    /// fields.
    public var normalizedForStorage: MapValue {
        guard needsNormalizing else { return self }
        var result = self
        for entry in entries { result[entry.key] = entry.value.normalizedForStorage }
        return result
    }

    fileprivate var needsNormalizing: Bool { entries.contains { $0.value.needsNormalizing } }

    /// Checks the fields of a document that a client wants to store. Does not check the size of the
    /// document: ``Document/validateSize(of:at:in:edition:)`` does so where the write is applied.
    ///
    /// - Parameter edition: The edition of the database, which has the limit of a value.
    /// - Throws: ``RPCStatus`` of code `invalidArgument`.
    public func validateForStorage(edition: DatabaseEdition = .standard) throws(RPCStatus) {
        try validateEntries(depth: 0, pathBytes: 0, edition: edition)
    }

    /// - Parameter pathBytes: The length of the names of the enclosing maps, each with a dot after
    ///   it.
    fileprivate func validateEntries(
        depth: Int, pathBytes: Int, edition: DatabaseEdition
    ) throws(RPCStatus) {
        for entry in entries {
            try Self.validate(name: entry.key)
            let bytes = pathBytes + entry.key.utf8.count
            if bytes > QueryLimits.fieldPathBytes {
                throw .invalidArgument("property path is longer than 1500 bytes.")
            }
            try entry.value.validate(
                as: entry.key, depth: depth, pathBytes: bytes + 1, edition: edition)
        }
    }

    private static func validate(name: String) throws(RPCStatus) {
        if name.isEmpty { throw .invalidArgument("A field name must not be empty.") }
        if name.utf8.count > DocumentLimits.fieldNameBytes {
            throw .invalidArgument("The property.name is longer than 1500 bytes.")
        }
        if FieldPath.isReserved(name) {
            throw .invalidArgument("The property.name \"\(name)\" is reserved.")
        }
    }
}

extension Value {
    /// The value in its stored form: timestamps are cut to microseconds, at any depth.
    public var normalizedForStorage: Value {
        guard needsNormalizing else { return self }
        return switch self {
        case .timestamp(let value): .timestamp(value.truncatedToMicroseconds)
        case .array(let values): .array(values.map(\.normalizedForStorage))
        case .map(let fields): .map(fields.normalizedForStorage)
        default: self
        }
    }

    fileprivate var needsNormalizing: Bool {
        switch self {
        case .timestamp(let value): !value.nanoseconds.isMultiple(of: 1_000)
        case .array(let values): values.contains(where: \.needsNormalizing)
        case .map(let fields): fields.needsNormalizing
        default: false
        }
    }

    /// - Parameters:
    ///   - name: The field that holds the value, for the error message.
    ///   - depth: The number of maps and arrays around the value.
    ///   - pathBytes: The length of the enclosing path, with a dot after it. No path leads into an
    ///     array.
    ///   - edition: The edition of the database, which has the limit of a value.
    func validate(
        as name: String, depth: Int, pathBytes: Int = 0, edition: DatabaseEdition = .standard
    ) throws(RPCStatus) {
        switch self {
        case .string(let value):
            try Self.validate(bytes: value.utf8.count, of: name, limit: edition.valueBytes)
        case .bytes(let value):
            try Self.validate(bytes: value.count, of: name, limit: edition.valueBytes)
        case .vector(let value): try value.validate(as: name)
        case .array(let values):
            try Self.validate(depth: depth + 1, of: name)
            for value in values {
                if case .array = value {
                    throw .invalidArgument("Cannot convert an array value in an array value.")
                }
                try value.validate(as: name, depth: depth + 1, edition: edition)
            }
        case .map(let fields):
            try Self.validate(depth: depth + 1, of: name)
            try fields.validateEntries(depth: depth + 1, pathBytes: pathBytes, edition: edition)
        case .pendingServerTimestamp:
            // A pending timestamp is local to a client. On the wire it is a map with this reserved
            // key.
            throw .invalidArgument("The property.name \"__type__\" is reserved.")
        case .null, .boolean, .integer, .double, .timestamp, .reference, .geoPoint: return
        }
    }

    private static func validate(bytes: Int, of name: String, limit: Int) throws(RPCStatus) {
        if bytes > limit {
            throw .invalidArgument(
                "The value of property \"\(name)\" is longer than \(limit) bytes.")
        }
    }

    private static func validate(depth: Int, of name: String) throws(RPCStatus) {
        if depth > DocumentLimits.depth {
            throw .invalidArgument(
                "Maps and arrays in property \"\(name)\" are nested deeper than "
                    + "\(DocumentLimits.depth) levels.")
        }
    }
}

extension VectorValue {
    fileprivate func validate(as name: String) throws(RPCStatus) {
        guard (1...DocumentLimits.vectorDimensions).contains(array.count) else {
            throw .invalidArgument(
                "The vector in property \"\(name)\" has \(array.count) dimensions; it must have 1 "
                    + "to \(DocumentLimits.vectorDimensions).")
        }
        if array.contains(where: \.isNaN) {
            throw .invalidArgument("The vector in property \"\(name)\" holds a NaN.")
        }
    }
}
