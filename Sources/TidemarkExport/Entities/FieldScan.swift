import TidemarkModel

/// Reads the fields of a message in protobuf's wire form, including groups.
enum FieldScan {
    /// The maximum depth of nested groups. Entities have a depth of 1.
    private static let maxGroups = 8

    enum Content {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes([UInt8])
        /// The bytes between a group's two marks.
        case group([UInt8])
        /// Four bytes, which no field of an entity has.
        case fixed32
    }

    struct Field {
        let number: UInt64
        let content: Content
    }

    /// Calls `body` with each field, in their order.
    static func each(
        of bytes: [UInt8], _ body: (Field) throws(EntityProblem) -> Void
    ) throws(EntityProblem) {
        let problem: EntityProblem? = bytes.withUnsafeBufferPointer { buffer in
            var reader = WireReader(buffer)
            do throws(EntityProblem) {
                while !reader.isAtEnd { try body(try field(&reader)) }
                return nil
            } catch { return error }
        }
        if let problem { throw problem }
    }

    private static func field(_ reader: inout WireReader) throws(EntityProblem) -> Field {
        do throws(CodecError) {
            let tag = try reader.varint()
            let number = tag >> 3
            guard number > 0, number < 1 << 29 else { throw CodecError.malformed }
            let content: Content
            switch tag & 7 {
            case EntityFields.WireType.varint: content = .varint(try reader.varint())
            case EntityFields.WireType.fixed64: content = .fixed64(try reader.fixed64())
            case EntityFields.WireType.bytes: content = .bytes(Array(try reader.lengthDelimited()))
            case EntityFields.WireType.groupStart:
                let rest = reader.rest
                let count = try skipGroup(number, &reader, depth: 1)
                content = .group(Array(rest[..<count]))
            case EntityFields.WireType.fixed32:
                for _ in 0..<4 { _ = try reader.byte() }
                content = .fixed32
            default: throw CodecError.malformed
            }
            return Field(number: number, content: content)
        } catch { throw EntityProblem(error) }
    }

    /// Skips a group and its end.
    ///
    /// - Returns: The number of bytes between the two marks.
    private static func skipGroup(
        _ number: UInt64, _ reader: inout WireReader, depth: Int
    ) throws(CodecError) -> Int {
        guard depth <= maxGroups else { throw .malformed }
        let start = reader.rest.count
        while true {
            let before = start - reader.rest.count
            let tag = try reader.varint()
            switch tag & 7 {
            case EntityFields.WireType.varint: _ = try reader.varint()
            case EntityFields.WireType.fixed64: _ = try reader.fixed64()
            case EntityFields.WireType.bytes: _ = try reader.lengthDelimited()
            case EntityFields.WireType.groupStart:
                _ = try skipGroup(tag >> 3, &reader, depth: depth + 1)
            case EntityFields.WireType.groupEnd:
                guard tag >> 3 == number else { throw .malformed }
                return before
            case EntityFields.WireType.fixed32: for _ in 0..<4 { _ = try reader.byte() }
            default: throw .malformed
            }
        }
    }
}
