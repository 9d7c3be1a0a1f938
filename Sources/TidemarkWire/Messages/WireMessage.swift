import TidemarkModel

/// A message of the protocol as plain values. Its list of fields serves to read and to write it.
///
/// Documents and values in a message stay encoded (``MessageBytes``); the model's codecs read them.
/// Fields that `Proto/` does not declare are skipped.
protocol WireMessage: WireField {
    /// Passes each field with its number to `coder`, in the order of the numbers.
    mutating func listFields(_ coder: inout some FieldCoder)
    /// The approximate size of the documents in the message in bytes, for which memory is reserved.
    var documentBytes: Int { get }
}

/// The type of a field.
protocol WireField: Sendable {
    /// 0 for a varint, 1 for eight bytes, 2 for a length and contents.
    static var wireType: UInt64 { get }
    /// Makes the value of a field that was not sent.
    init()
    /// True for the value of a field that was not sent.
    var isDefault: Bool { get }
    /// Reads the contents of a field, after its tag. A message keeps what it has: protobuf merges a
    /// message that is sent in several parts.
    mutating func read(from reader: inout MessageReader) throws(CodecError)
    /// Writes the contents of a field, after its tag.
    func write(to writer: inout WireWriter)
}

/// Reads or writes the fields that a message lists.
protocol FieldCoder {
    /// Reads or writes a field. A field with its default value is not sent.
    mutating func field<T: WireField>(_ number: UInt64, _ value: inout T)
    /// Reads or writes an optional field. Nil is not sent.
    ///
    /// - Parameter oneOf: The choice of which the field is an alternative. The alternative that was
    ///   sent last removes the others.
    mutating func field<T: WireField>(_ number: UInt64, _ value: inout T?, of oneOf: OneOf?)
    mutating func field<T: WireField>(_ number: UInt64, _ values: inout [T])
    mutating func field<T: WireField>(_ number: UInt64, _ map: inout [String: T])
    /// Sets `found` if the message that is being read contains a field that was not listed before
    /// this call.
    mutating func unknown(_ found: inout Bool)
}

extension FieldCoder {
    mutating func field<T: WireField>(_ number: UInt64, _ value: inout T?) {
        field(number, &value, of: nil)
    }

    /// Codes a choice whose alternatives are all bytes.
    mutating func field(
        _ numbers: ClosedRange<UInt64>, _ value: inout NumberedBytes?, of oneOf: OneOf
    ) {
        for number in numbers {
            var alternative = value?.number == number ? value?.bytes : nil
            field(number, &alternative, of: oneOf)
            if let alternative {
                value = NumberedBytes(number: number, bytes: alternative)
            } else if value?.number == number {
                value = nil
            }
        }
    }
}

/// The choices of the protocol's messages. A message holds at most one alternative of each.
enum OneOf {
    case aggregation, change, condition, consistency, filter, kind, mode, operation, response
    case result, resume, target, transform
}

/// The number and the contents of an alternative that was sent.
struct NumberedBytes: Sendable {
    let number: UInt64
    let bytes: MessageBytes
}

extension WireMessage {
    static var wireType: UInt64 { 2 }
    /// A message that is set is always sent.
    var isDefault: Bool { false }
    var documentBytes: Int { 0 }

    mutating func read(from reader: inout MessageReader) throws(CodecError) {
        try FieldReader.read(&self, from: try reader.message())
    }

    func write(to writer: inout WireWriter) {
        writer.message { writer in
            var message = self
            message.listFields(&writer)
        }
    }

    /// - Throws: `INVALID_ARGUMENT` if the bytes are not a message of this type.
    init(wire bytes: [UInt8]) throws(RPCStatus) {
        self.init()
        do throws(CodecError) {
            try FieldReader.read(&self, from: MessageReader(bytes))
        } catch { throw .malformed }
    }

    /// The encoded message, with the fields in the order of their numbers.
    var wireBytes: [UInt8] {
        var writer = WireWriter(capacity: 128 + documentBytes)
        var message = self
        message.listFields(&writer)
        return writer.bytes
    }
}
