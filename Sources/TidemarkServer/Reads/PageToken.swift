import TidemarkModel

/// The position at which a list continues: after some values, in a particular list. The token is
/// opaque to clients.
struct PageToken {
    /// The fingerprint of the list: another list refuses the token.
    let fingerprint: UInt64
    /// The values at the end of the page, one per order.
    let values: [Value]

    init(fingerprint: UInt64, values: [Value]) {
        self.fingerprint = fingerprint
        self.values = values
    }

    /// - Throws: A status with production's text, for an invalid token and for a token of another
    ///   list.
    init(_ text: String, of fingerprint: UInt64) throws(RPCStatus) {
        guard let bytes = Self.bytes(hex: text), let fields = try? FieldsCodec.decode(bytes),
            case .integer(let mark)? = fields["list"], case .array(let values)? = fields["after"]
        else { throw .invalidArgument("invalid page token") }
        guard UInt64(bitPattern: mark) == fingerprint else {
            throw .invalidArgument("Invalid page token.")
        }
        self.init(fingerprint: fingerprint, values: values)
    }

    var text: String {
        let fields: MapValue = [
            "list": .integer(Int64(bitPattern: fingerprint)), "after": .array(values),
        ]
        return Self.hex(FieldsCodec.encode(fields))
    }

    static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            result.append(digits[Int(byte >> 4)])
            result.append(digits[Int(byte & 15)])
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func bytes(hex text: String) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 2) else { return nil }
        var result: [UInt8] = []
        var high: UInt8?
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                result.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return result
    }

    /// Returns a hash of the list. Two lists rarely have the same. The hash is the same in every
    /// process.
    static func fingerprint(_ parts: String...) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for part in parts {
            // The hash is FNV-1a, with a byte between the parts that no text contains.
            for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01b3
        }
        return hash
    }
}
