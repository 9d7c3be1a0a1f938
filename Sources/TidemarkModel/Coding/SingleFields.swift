/// Fields that are looked up one by one: decoded already, or still as bytes. A query asks for two or
/// three of a document's, and decoding the others would be most of its work.
package protocol FieldSource {
    /// The value at `path`, or nil where a step is missing or is no map.
    subscript(path: FieldPath) -> Value? { get }
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

    package subscript(path: FieldPath) -> Value? {
        let head = path.segments[0].withBytes { (try? FieldsCodec.value(of: $0, in: bytes)) ?? nil }
        if path.segments.count == 1 { return head }
        guard case .map(let inner)? = head else { return nil }
        return inner[FieldPath(unchecked: Array(path.segments.dropFirst()))]
    }
}

extension FieldsCodec {
    /// The value of one key of a document's fields. They are in the order of their keys, so the search
    /// ends where the key would be.
    fileprivate static func value(
        of key: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>
    ) throws(CodecError) -> Value? {
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
                var inner = try entry.message()
                return try value(&inner, depth: 0)
            }
        }
        return nil
    }
}
