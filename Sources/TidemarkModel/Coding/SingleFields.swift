/// Fields that are looked up one at a time, in decoded or encoded form. A query needs two or three
/// fields of a document; decoding all of them would be most of its work.
package protocol FieldSource {
    /// Returns the value at `path`, or nil if a segment of the path is missing or its parent is not
    /// a map.
    subscript(path: FieldPath) -> Value? { get }
    /// Like the subscript, but returns strings as pointers into the source's memory when that
    /// memory outlives the source.
    func field(at path: FieldPath) -> FoundField?
    /// True if the value at `path` is a string with these UTF-8 bytes.
    func holds(text: UnsafeBufferPointer<UInt8>, at path: FieldPath) -> Bool
}

package enum FoundField {
    case text(UnsafeBufferPointer<UInt8>)
    case value(Value)
}

extension FieldSource {
    package func field(at path: FieldPath) -> FoundField? { self[path].map(FoundField.value) }

    package func holds(text: UnsafeBufferPointer<UInt8>, at path: FieldPath) -> Bool {
        guard case .string(let found)? = self[path] else { return false }
        return found.utf8.elementsEqual(text)
    }

    package func holds(text: [UInt8], at path: FieldPath) -> Bool {
        text.withUnsafeBufferPointer { holds(text: $0, at: path) }
    }

    package func holds(text: String, at path: FieldPath) -> Bool {
        text.withBytes { holds(text: $0, at: path) }
    }
}

extension MapValue: FieldSource {}

extension EncodedFields: FieldSource {
    /// Linear in the number of fields before `path`, which are not decoded. Keep the result if you
    /// need it twice.
    package subscript(path: FieldPath) -> Value? {
        bytes.withUnsafeBufferPointer { FieldsInPlace(bytes: $0)[path] }
    }

    /// Compares the encoded bytes of one top-level field, the first segment of `path`. Returns
    /// false if either document lacks the field, or if two maps differ anywhere.
    package func hasSameEncoding(as other: EncodedFields, at path: FieldPath) -> Bool {
        path.segments[0].withBytes { key in
            bytes.withUnsafeBufferPointer { bytes in
                other.bytes.withUnsafeBufferPointer { others in
                    guard let mine = try? FieldsCodec.message(of: key, in: bytes)?.rest,
                        let theirs = try? FieldsCodec.message(of: key, in: others)?.rest
                    else { return false }
                    return mine.count == theirs.count && Comparison.bytes(mine, theirs) == .equal
                }
            }
        }
    }
}

/// Encoded fields, in the form of ``EncodedFields``, read in memory that outlives this value.
package struct FieldsInPlace: FieldSource {
    let bytes: UnsafeBufferPointer<UInt8>

    package init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes: bytes.bindMemory(to: UInt8.self))
    }

    /// The fields in memory of their own.
    package var copied: EncodedFields { EncodedFields(trusted: Array(bytes)) }

    package func holds(text: UnsafeBufferPointer<UInt8>, at path: FieldPath) -> Bool {
        switch field(at: path) {
        case .text(let found):
            found.count == text.count && Comparison.bytes(text, found) == .equal
        case .value(.string(let found)): found.utf8.elementsEqual(text)
        default: false
        }
    }

    /// Like ``holds(text:at:)``, for a top-level field given by its name in UTF-8.
    package func holds(
        text: UnsafeBufferPointer<UInt8>, at key: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        switch (try? FieldsCodec.field(key, in: bytes)) ?? nil {
        case .text(let found):
            found.count == text.count && Comparison.bytes(text, found) == .equal
        case .value(.string(let found)): found.utf8.elementsEqual(text)
        default: false
        }
    }

    package func field(at path: FieldPath) -> FoundField? {
        guard path.segments.count == 1 else { return self[path].map(FoundField.value) }
        return path.segments[0].withBytes { (try? FieldsCodec.field($0, in: bytes)) ?? nil }
    }

    package subscript(path: FieldPath) -> Value? {
        let head = path.segments[0].withBytes { (try? FieldsCodec.value(of: $0, in: bytes)) ?? nil }
        if path.segments.count == 1 { return head }
        guard case .map(let inner)? = head else { return nil }
        return inner[FieldPath(unchecked: Array(path.segments.dropFirst()))]
    }
}

extension FieldsCodec {
    fileprivate static func value(
        of key: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>
    ) throws(CodecError) -> Value? {
        guard var message = try message(of: key, in: bytes) else { return nil }
        return try value(&message, depth: 0)
    }

    /// Reads one field. Returns a string as a pointer to its bytes in `bytes`.
    fileprivate static func field(
        _ key: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>
    ) throws(CodecError) -> FoundField? {
        guard var message = try message(of: key, in: bytes) else { return nil }
        var copy = message
        if !copy.isAtEnd, try copy.tag() == 17 << 3 | 2 {
            let text = try copy.lengthDelimited()
            if copy.isAtEnd { return .text(text) }
        }
        return .value(try value(&message, depth: 0))
    }

    /// Returns the encoded value of one key of a document's fields. The fields are in key order, so
    /// the search ends at the first greater key.
    fileprivate static func message(
        of key: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>
    ) throws(CodecError) -> WireReader? {
        var reader = WireReader(bytes)
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == documentFields << 3 | 2 else {
                try reader.skip(tag)
                continue
            }
            var entry = try reader.message()
            // Entries written by this codec begin with the key; any other entry is damaged.
            guard !entry.isAtEnd, try entry.tag() == 1 << 3 | 2 else { throw .malformed }
            let found = try entry.lengthDelimited()
            // The first byte usually decides.
            if let first = found.first, let wanted = key.first, first != wanted {
                if first > wanted { return nil }
                continue
            }
            switch Comparison.bytes(found, key) {
            case .ascending: continue
            case .descending: return nil
            case .equal:
                guard !entry.isAtEnd, try entry.tag() == 2 << 3 | 2 else { throw .malformed }
                return try entry.message()
            }
        }
        return nil
    }
}
