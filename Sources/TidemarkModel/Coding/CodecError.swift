/// The reason why bytes cannot be decoded. Every case is the sender's fault: the decoder never
/// traps on bad input.
public enum CodecError: Error, Hashable, Sendable {
    /// The bytes end inside a field.
    case truncated
    /// A tag, varint or length that protobuf does not allow.
    case malformed
    case invalidUTF8
    /// A timestamp, geo point or number is outside the range that Firestore can hold.
    case outOfRange
    case invalidReference(String)
    /// Maps and arrays are nested deeper than ``FieldsCodec/maxDepth``.
    case tooDeep
    /// The value has a kind of another edition: a field reference, a function or a pipeline.
    case unsupportedKind(field: Int)
    /// The value sets none of its kinds.
    case noKind

    public var message: String {
        switch self {
        case .truncated: "The message ends in the middle of a field."
        case .malformed: "The message is not well-formed."
        case .invalidUTF8: "A text is not valid UTF-8."
        case .outOfRange: "A value is outside the range that can be stored."
        case .invalidReference(let name): "\"\(name)\" is no document name."
        case .tooDeep: "Maps and arrays are nested too deeply."
        case .unsupportedKind: "A value is of a kind that this edition does not have."
        case .noKind: "A value has no kind set."
        }
    }
}
