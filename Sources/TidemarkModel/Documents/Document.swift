/// A document that exists, as of one of its versions.
public struct Document: Hashable, Sendable {
    public let path: DocumentPath
    public var contents: EncodedFields
    public var createTime: Timestamp
    /// When this version was committed: it names the version.
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

    /// The contents, decoded. Costs a pass over all of them: keep what it returns.
    public var fields: MapValue { contents.decoded }
}

/// A document's fields in the one encoding that serves disk and wire: the protobuf form of
/// `map<string, Value> fields = 2`, each entry with its tag. Valid and canonical by construction, so
/// that fields are equal when their bytes are.
public struct EncodedFields: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(_ fields: MapValue) { bytes = FieldsCodec.encode(fields) }

    /// Of bytes that came from elsewhere: decoded, and encoded again in the one canonical form, because
    /// other encoders write maps in any order.
    ///
    /// - Throws: ``CodecError`` when the bytes are no well-formed fields, or over a bound.
    public init(validating bytes: [UInt8]) throws(CodecError) {
        self.init(try FieldsCodec.decode(bytes))
    }

    /// For bytes that this type made before, read back from disk.
    ///
    /// Bytes that a damaged disk changed decode to no fields at all rather than to a crash; the store
    /// checks its pages, so that is its last line of defence and not its first.
    package init(trusted bytes: [UInt8]) { self.bytes = bytes }

    public var decoded: MapValue { (try? FieldsCodec.decode(bytes)) ?? MapValue() }

    public static let empty = EncodedFields(trusted: [])
}
