import TidemarkModel

/// Reads the fields of one message, in any order. If a single field is sent twice, the last value
/// counts; a message that is sent twice is merged.
struct FieldReader: FieldCoder {
    private var reader: MessageReader
    /// The tag of the field that is read now.
    private var tag: UInt64 = 0
    private var isTaken = false
    /// The choice of which the field that was read is an alternative.
    private var choice: OneOf?
    /// True while the other alternatives of ``choice`` are removed.
    private var isClearing = false
    private var failure: CodecError?

    private init(_ reader: MessageReader) { self.reader = reader }

    static func read(
        _ message: inout some WireMessage, from reader: MessageReader
    ) throws(CodecError) {
        var fields = FieldReader(reader)
        while !fields.reader.isAtEnd { try fields.readField(of: &message) }
    }

    private mutating func readField(of message: inout some WireMessage) throws(CodecError) {
        tag = try reader.tag()
        isTaken = false
        choice = nil
        message.listFields(&self)
        if let failure { throw failure }
        if choice != nil {
            isClearing = true
            message.listFields(&self)
            isClearing = false
        } else if !isTaken {
            try reader.skip(tag)
        }
    }

    mutating func field<T: WireField>(_ number: UInt64, _ value: inout T) {
        guard takes(number, T.wireType) else { return }
        attempt { reader throws(CodecError) in try value.read(from: &reader) }
    }

    mutating func field<T: WireField>(_ number: UInt64, _ value: inout T?, of oneOf: OneOf?) {
        if isClearing {
            if oneOf == choice, number != tag >> 3 { value = nil }
            return
        }
        guard takes(number, T.wireType) else { return }
        choice = oneOf
        // The field is emptied first: an array that has one owner is not copied when it grows.
        var merged = value.take() ?? T()
        attempt { reader throws(CodecError) in try merged.read(from: &reader) }
        value = merged
    }

    mutating func field<T: WireField>(_ number: UInt64, _ values: inout [T]) {
        if T.wireType == 0, takes(number, 2) {
            attempt { reader throws(CodecError) in
                var packed = try reader.contents()
                while !packed.isAtEnd {
                    var value = T()
                    try value.read(from: &packed)
                    values.append(value)
                }
            }
        }
        guard takes(number, T.wireType) else { return }
        var value = T()
        attempt { reader throws(CodecError) in try value.read(from: &reader) }
        values.append(value)
    }

    mutating func field<T: WireField>(_ number: UInt64, _ map: inout [String: T]) {
        guard takes(number, 2) else { return }
        var entry = MapEntry<T>()
        attempt { reader throws(CodecError) in
            try FieldReader.read(&entry, from: try reader.contents())
        }
        map[entry.key] = entry.value ?? T()
    }

    mutating func unknown(_ found: inout Bool) {
        if !isTaken { found = true }
    }

    /// Returns true once for each field: in the line that lists the field.
    private mutating func takes(_ number: UInt64, _ wireType: UInt64) -> Bool {
        guard !isTaken, tag == number << 3 | wireType else { return false }
        isTaken = true
        return true
    }

    private mutating func attempt(_ body: (inout MessageReader) throws(CodecError) -> Void) {
        do throws(CodecError) { try body(&reader) } catch { failure = error }
    }
}

/// An entry of a map. Each part that is missing has its default value.
private struct MapEntry<T: WireField>: WireMessage {
    var key = ""
    var value: T?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &key)
        coder.field(2, &value)
    }
}
