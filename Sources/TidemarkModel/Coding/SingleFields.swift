/// Fields that are looked up one by one: decoded already, or still as bytes. A query asks for two or
/// three of a document's, and decoding the others would be most of its work.
package protocol FieldSource {
    /// The value at `path`, or nil where a step is missing or is no map.
    subscript(path: FieldPath) -> Value? { get }
    /// As the subscript; a text is not copied where it lies in memory that outlives the source.
    func field(at path: FieldPath) -> FoundField?
    /// Whether the value at `path` is this text, in UTF-8.
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
    /// Costs a pass over the fields before it, without decoding them: look up once what is needed twice.
    package subscript(path: FieldPath) -> Value? {
        bytes.withUnsafeBufferPointer { FieldsInPlace(bytes: $0)[path] }
    }

    /// Whether both have the same value there; decodes nothing. False where it cannot be told without:
    /// for fields inside of maps that differ. A field that one lacks is not agreed upon.
    package func surelyAgrees(with other: EncodedFields, at path: FieldPath) -> Bool {
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

/// Fields where they lie, in memory that outlives this: as ``EncodedFields`` has them.
package struct FieldsInPlace: FieldSource {
    let bytes: UnsafeBufferPointer<UInt8>

    package init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes: bytes.bindMemory(to: UInt8.self))
    }

    package func holds(text: UnsafeBufferPointer<UInt8>, at path: FieldPath) -> Bool {
        switch field(at: path) {
        case .text(let found):
            found.count == text.count && Comparison.bytes(text, found) == .equal
        case .value(.string(let found)): found.utf8.elementsEqual(text)
        default: false
        }
    }

    /// As ``holds(text:at:)``, of a field that is in no map, by its name in UTF-8.
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

    /// A text as its bytes, where they lie.
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

    /// The value of one key of a document's fields, not decoded. They are in the order of their keys, so
    /// the search ends where the key would be.
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
            // Ours begin with the key; what does not is no entry that we wrote.
            guard !entry.isAtEnd, try entry.tag() == 1 << 3 | 2 else { throw .malformed }
            let found = try entry.lengthDelimited()
            // Which mostly decides.
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
