/// A version of a document that exists.
public struct Document: Hashable, Sendable {
    public let path: DocumentPath
    public var contents: EncodedFields
    public var createTime: Timestamp
    /// The commit time of this version, which identifies the version.
    public var updateTime: Timestamp

    public init(
        path: DocumentPath, contents: EncodedFields, createTime: Timestamp, updateTime: Timestamp
    ) {
        self.path = path
        self.contents = contents
        self.createTime = createTime
        self.updateTime = updateTime
    }

    public init(
        path: DocumentPath, fields: MapValue, createTime: Timestamp, updateTime: Timestamp
    ) {
        self.init(
            path: path, contents: EncodedFields(fields), createTime: createTime,
            updateTime: updateTime)
    }

    /// The decoded contents. Decodes all of them at each call, so keep the result.
    public var fields: MapValue { contents.decoded }
}

/// A document's fields in the encoding that disk and wire share: the protobuf form of
/// `map<string, Value> fields = 2`, each entry with its tag. The bytes are always valid and
/// canonical, so equal fields have equal bytes.
public struct EncodedFields: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(_ fields: MapValue) { bytes = FieldsCodec.encode(fields) }

    /// Makes fields from bytes of another encoder. Decodes the bytes and encodes them again in the
    /// canonical form, because other encoders write maps in any order.
    ///
    /// - Throws: ``CodecError`` if the bytes are not well-formed fields or exceed a bound.
    public init(validating bytes: [UInt8]) throws(CodecError) {
        self.init(try FieldsCodec.decode(bytes))
    }

    /// Wraps bytes that this type encoded earlier and that were read back from disk.
    ///
    /// If a damaged disk has changed the bytes, they decode to no fields instead of crashing. The
    /// store checks its pages first, so this is the last line of defence.
    package init(trusted bytes: [UInt8]) { self.bytes = bytes }

    public var decoded: MapValue { (try? FieldsCodec.decode(bytes)) ?? MapValue() }

    public static let empty = EncodedFields(trusted: [])
}
