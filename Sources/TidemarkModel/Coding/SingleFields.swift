/// Fields that are looked up one by one: decoded already, or still as bytes. A query asks for two or
/// three of a document's, and decoding the others would be most of its work.
package protocol FieldSource {
    /// The value at `path`, or nil where a step is missing or is no map.
    subscript(path: FieldPath) -> Value? { get }
    /// Whether the value at `path` is this text, in UTF-8.
    func holds(text: UnsafeBufferPointer<UInt8>, at path: FieldPath) -> Bool
}

extension FieldSource {
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
    /// Costs a pass over the fields before it, without decoding them: look up once what is needed twice.
    package subscript(path: FieldPath) -> Value? {
        bytes.withUnsafeBufferPointer { FieldsInPlace(bytes: $0)[path] }
    }
}

/// Fields where they lie, in memory that outlives this: as ``EncodedFields`` has them.
package struct FieldsInPlace: FieldSource {
    let bytes: UnsafeBufferPointer<UInt8>

    package init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes: bytes.bindMemory(to: UInt8.self))
    }

    package func holds(text: UnsafeBufferPointer<UInt8>, at path: FieldPath) -> Bool {
        guard path.segments.count == 1 else {
            guard case .string(let found)? = self[path] else { return false }
            return found.utf8.elementsEqual(text)
        }
        let found = path.segments[0].withBytes {
            (try? FieldsCodec.text(of: $0, in: bytes)) ?? nil
        }
        guard let found else { return false }
        return found.count == text.count && Comparison.bytes(text, found) == .equal
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

    /// The bytes of a text, where they lie; nil for what is no text.
    fileprivate static func text(
        of key: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>
    ) throws(CodecError) -> UnsafeBufferPointer<UInt8>? {
        guard var message = try message(of: key, in: bytes), !message.isAtEnd,
            try message.tag() == 17 << 3 | 2
        else { return nil }
        return try message.lengthDelimited()
    }

    /// The value of one key of a document's fields, not decoded. They are in the order of their keys, so
    /// the search ends where the key would be.
    private static func message(
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
            // Ours begin with the key; what does not is no entry that we wrote.
            guard !entry.isAtEnd, try entry.tag() == 1 << 3 | 2 else { throw .malformed }
            switch Comparison.bytes(try entry.lengthDelimited(), key) {
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
