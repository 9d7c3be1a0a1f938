/// The names of top-level fields, which are found in encoded documents in one pass over the bytes.
package struct FieldNames: Sendable {
    /// The names in the order of their bytes, which is their order in a document.
    private let names: [[UInt8]]

    /// - Parameter names: The names in any order, perhaps with duplicates.
    package init(_ names: [String]) {
        let all = Set(names.map { Array($0.utf8) })
        self.names = all.sorted { Comparison.bytes($0, $1) == .ascending }
    }

    package var count: Int { names.count }

    /// Returns the place of a name; nil if it is not one of the names.
    package func place(of name: String) -> Int? {
        names.firstIndex { $0.elementsEqual(name.utf8) }
    }

    /// Finds the fields of a document, and decodes none of them.
    ///
    /// - Parameter found: Gets one element for each name, nil if the document lacks the field. The
    ///   elements are valid as long as the memory of the document.
    package func find(in fields: FieldsInPlace, _ found: inout [EncodedValue?]) {
        for place in found.indices { found[place] = nil }
        // Damaged bytes end the search, as they do where one field is looked up.
        try? find(in: WireReader(fields.bytes), &found)
    }

    private func find(
        in bytes: WireReader, _ found: inout [EncodedValue?]
    ) throws(CodecError) {
        var reader = bytes
        var place = 0
        while place < names.count, !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == FieldsCodec.documentFields << 3 | 2 else {
                try reader.skip(tag)
                continue
            }
            var entry = try reader.message()
            guard !entry.isAtEnd, try entry.tag() == 1 << 3 | 2 else { throw .malformed }
            let key = try entry.lengthDelimited()
            while place < names.count {
                let order = Self.compare(key, names[place])
                if order == .ascending { break }
                // A damaged entry hides no other one.
                if order == .equal { found[place] = try? Self.value(in: &entry) }
                place += 1
                if order == .equal { break }
            }
        }
    }

    private static func value(in entry: inout WireReader) throws(CodecError) -> EncodedValue {
        guard !entry.isAtEnd, try entry.tag() == 2 << 3 | 2 else { throw .malformed }
        return EncodedValue(bytes: try entry.lengthDelimited())
    }

    @inline(__always)
    private static func compare(_ key: UnsafeBufferPointer<UInt8>, _ name: [UInt8]) -> Comparison {
        name.withUnsafeBufferPointer { name in
            // The first byte usually decides.
            if let a = key.first, let b = name.first, a != b {
                return a < b ? .ascending : .descending
            }
            return Comparison.bytes(key, name)
        }
    }
}

/// A value in its encoding, in memory that outlives this value.
package struct EncodedValue {
    package let bytes: UnsafeBufferPointer<UInt8>

    /// The value; nil if its bytes are damaged.
    package var decoded: Value? {
        var reader = WireReader(bytes)
        return try? FieldsCodec.value(&reader, depth: 0)
    }

    /// True for null.
    package var isNull: Bool {
        guard bytes.first == UInt8(11 << 3 | 0) else { return false }
        return decoded == .null
    }
}
