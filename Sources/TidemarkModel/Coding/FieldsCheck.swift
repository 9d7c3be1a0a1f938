// Checks encoded fields without building them. A check walks the same messages as the reading in
// FieldsReading.swift, and throws in the same cases.

extension FieldsCodec {
    /// Checks that ``decode(_:)`` accepts the bytes. Allocates nothing, except for references and
    /// for texts that are not ASCII.
    ///
    /// - Throws: The error of ``decode(_:)``.
    package static func check(_ bytes: UnsafeBufferPointer<UInt8>) throws(CodecError) {
        var reader = WireReader(bytes)
        try checkEntries(&reader, field: documentFields, depth: 0)
    }

    private static func checkEntries(
        _ reader: inout WireReader, field: UInt64, depth: Int
    ) throws(CodecError) {
        if depth > maxDepth { throw .tooDeep }
        let entryTag = field << 3 | 2
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == entryTag else {
                try reader.skip(tag)
                continue
            }
            var entry = try reader.message()
            try checkEntry(&entry, depth: depth)
        }
    }

    private static func checkEntry(
        _ reader: inout WireReader, depth: Int
    ) throws(CodecError) {
        var key = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        var hasValue = false
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 1 << 3 | 2: key = try reader.lengthDelimited()
            case 2 << 3 | 2:
                var inner = try reader.message()
                try checkValue(&inner, depth: depth)
                hasValue = true
            default: try reader.skip(tag)
            }
        }
        guard hasValue else { throw .noKind }
        try checkText(key)
    }

    private static func checkValue(
        _ reader: inout WireReader, depth: Int
    ) throws(CodecError) {
        var hasKind = false
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 17 << 3 | 2: try checkText(try reader.lengthDelimited())
            case 2 << 3 | 0, 1 << 3 | 0, 3 << 3 | 1, 11 << 3 | 0, 18 << 3 | 2:
                try reader.skip(tag)
            case 5 << 3 | 2: _ = try reference(try reader.text())
            case 19 << 3 | 2, 20 << 3 | 2, 21 << 3 | 2, 22 << 3 | 2:
                throw .unsupportedKind(field: Int(tag >> 3))
            case 10 << 3 | 2, 8 << 3 | 2, 9 << 3 | 2, 6 << 3 | 2:
                var inner = try reader.message()
                try checkNested(&inner, tag: tag, depth: depth)
            default:
                try reader.skip(tag)
                continue
            }
            hasKind = true
        }
        guard hasKind else { throw .noKind }
    }

    private static func checkNested(
        _ reader: inout WireReader, tag: UInt64, depth: Int
    ) throws(CodecError) {
        switch tag >> 3 {
        case 10: _ = try timestamp(&reader)
        case 8: _ = try geoPoint(&reader)
        case 9: try checkArray(&reader, depth: depth + 1)
        default: try checkEntries(&reader, field: mapFields, depth: depth + 1)
        }
    }

    private static func checkArray(
        _ reader: inout WireReader, depth: Int
    ) throws(CodecError) {
        if depth > maxDepth { throw .tooDeep }
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == 1 << 3 | 2 else {
                try reader.skip(tag)
                continue
            }
            var inner = try reader.message()
            try checkValue(&inner, depth: depth)
        }
    }

    private static func checkText(_ bytes: UnsafeBufferPointer<UInt8>) throws(CodecError) {
        if bytes.allSatisfy({ $0 < 0x80 }) { return }
        _ = try WireReader.text(bytes)
    }
}
