import TidemarkModel

// The types of fields that are no messages. An enum of the protocol is an `Int32`.

extension String: WireField {
    static var wireType: UInt64 { 2 }
    var isDefault: Bool { isEmpty }

    mutating func read(from reader: inout MessageReader) throws(CodecError) {
        self = try reader.text()
    }

    func write(to writer: inout WireWriter) { writer.text(self) }
}

extension MessageBytes: WireField {
    static var wireType: UInt64 { 2 }
    init() { self.init([]) }
    var isDefault: Bool { isEmpty }

    mutating func read(from reader: inout MessageReader) throws(CodecError) {
        self = try reader.bytes()
    }

    func write(to writer: inout WireWriter) { withBytes { writer.data($0) } }
}

extension Bool: WireField {
    static var wireType: UInt64 { 0 }
    var isDefault: Bool { !self }

    mutating func read(from reader: inout MessageReader) throws(CodecError) {
        self = try reader.varint() != 0
    }

    func write(to writer: inout WireWriter) { writer.varint(self ? 1 : 0) }
}

extension Int32: WireField {
    static var wireType: UInt64 { 0 }
    var isDefault: Bool { self == 0 }

    mutating func read(from reader: inout MessageReader) throws(CodecError) {
        self = Int32(truncatingIfNeeded: try reader.varint())
    }

    /// Protobuf writes a negative number with 64 bits.
    func write(to writer: inout WireWriter) { Int64(self).write(to: &writer) }
}

extension Int64: WireField {
    static var wireType: UInt64 { 0 }
    var isDefault: Bool { self == 0 }

    mutating func read(from reader: inout MessageReader) throws(CodecError) {
        self = Int64(bitPattern: try reader.varint())
    }

    func write(to writer: inout WireWriter) { writer.varint(UInt64(bitPattern: self)) }
}

extension Double: WireField {
    static var wireType: UInt64 { 1 }
    /// False for -0.0, which protobuf sends.
    var isDefault: Bool { bitPattern == 0 }

    mutating func read(from reader: inout MessageReader) throws(CodecError) {
        self = Double(bitPattern: try reader.fixed64())
    }

    func write(to writer: inout WireWriter) { writer.fixed64(bitPattern) }
}
