/// A document as FirebaseFirestore stores it.
struct CachedRow: Sendable {
    enum Contents: Sendable {
        case found(EncodedFields)
        /// The document was missing at the version.
        case missing
        /// The document exists; its contents are not known on this device.
        case unknown
    }

    /// The absolute name.
    private(set) var name = ""
    private(set) var contents = Contents.missing
    /// The update time, or the time at which the document was missing.
    private(set) var version = Timestamp.epoch
    /// True if this device computed the contents from an acknowledged write.
    private(set) var isCommitted = false

    /// - Throws: ``CodecError`` if the bytes are no such row, or have values that a document cannot
    ///   have.
    init(_ bytes: [UInt8]) throws(CodecError) {
        self = try StoreMessage.parse(bytes) { reader throws(CodecError) in
            try CachedRow(&reader)
        }
    }

    private init(_ reader: inout WireReader) throws(CodecError) {
        var hasContents = false
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 1 << 3 | 2, 3 << 3 | 2:
                contents = tag == 1 << 3 | 2 ? .missing : .unknown
                (name, version) = try Self.nameAndTime(try reader.message())
            case 2 << 3 | 2:
                let document = try DocumentCodec.decode(
                    UnsafeRawBufferPointer(try reader.lengthDelimited()))
                name = document.name
                contents = .found(document.contents)
                version = document.updateTime ?? .epoch
            case 4 << 3 | 0:
                isCommitted = try reader.varint() != 0
                continue
            default:
                try reader.skip(tag)
                continue
            }
            hasContents = true
        }
        if !hasContents { throw .malformed }
    }

    /// Reads 1 a name and 2 a time.
    private static func nameAndTime(
        _ message: WireReader
    ) throws(CodecError) -> (String, Timestamp) {
        var reader = message
        var (name, time) = ("", Timestamp.epoch)
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 1 << 3 | 2: name = try reader.text()
            case 2 << 3 | 2:
                var inner = try reader.message()
                time = try FieldsCodec.timestamp(&inner)
            default: try reader.skip(tag)
            }
        }
        return (name, time)
    }
}

/// Parses messages whose bytes are in an array.
enum StoreMessage {
    static func parse<T>(
        _ bytes: [UInt8], _ body: (inout WireReader) throws(CodecError) -> T
    ) throws(CodecError) -> T {
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<T, CodecError> in
            var reader = WireReader(buffer)
            do throws(CodecError) { return .success(try body(&reader)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
