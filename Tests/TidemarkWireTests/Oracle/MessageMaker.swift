import TidemarkModel

/// Makes the bytes of random messages of the contract, in all forms that protobuf allows: fields in
/// any order, sent twice or in parts, packed or not, with fields that the contract does not have.
struct MessageMaker {
    private let schema = ProtoSchema.contract
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    private mutating func pick<T>(_ options: [T]) -> T { options[below(options.count)] }

    mutating func message(_ type: String, depth: Int = 5) -> [UInt8] {
        let fields = schema.messages[type]!
        var bytes: [UInt8] = []
        for _ in 0..<below(7) {
            if below(12) == 0 {
                bytes += unknown(known: fields)
            } else {
                bytes += field(pick(fields), depth: depth)
            }
        }
        return bytes
    }

    /// Returns the field alone, with contents that are not its default.
    func sample(_ field: ProtoSchema.Field) -> [UInt8] {
        let contents: [UInt8] =
            switch field.type {
            case .text, .bytes: Self.delimited([0x78])
            case .bool, .int32, .int64: [1]
            case .double: [0, 0, 0, 0, 0, 0, 0xF8, 0x3F]
            case .message: [0]
            case .map: Self.delimited(Self.tag(1, 2) + Self.delimited([0x78]))
            }
        return Self.tag(field.number, field.type.wireType) + contents
    }

    private mutating func field(_ field: ProtoSchema.Field, depth: Int) -> [UInt8] {
        if field.isRepeated, field.type.isNumber, below(2) == 0 {
            let numbers = (0..<below(4)).flatMap { _ in number() }
            return Self.tag(field.number, 2) + Self.delimited(numbers)
        }
        return Self.tag(field.number, field.type.wireType) + contents(field.type, depth: depth)
    }

    private mutating func contents(_ type: ProtoSchema.FieldType, depth: Int) -> [UInt8] {
        switch type {
        case .text: Self.delimited(Array(pick(["", "a", "é", "日本", "e\u{301}", "\0"]).utf8))
        case .bytes: Self.delimited((0..<below(6)).map { _ in pick([0, 1, 0x7F, 0x80, 0xFF]) })
        case .bool, .int32, .int64: number()
        case .double: pick([[0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0x80], noise(8)])
        case .message(let name): Self.delimited(depth > 0 ? message(name, depth: depth - 1) : [])
        case .map(let value): Self.delimited(entry(value, depth: depth))
        }
    }

    /// Returns an entry of a map. A part can be missing, or sent twice.
    private mutating func entry(_ type: ProtoSchema.FieldType, depth: Int) -> [UInt8] {
        (0..<below(4)).flatMap { _ in
            switch below(5) {
            case 0, 1: Self.tag(1, 2) + Self.delimited(Array(pick(["", "a", "b", "zz"]).utf8))
            case 2, 3: Self.tag(2, type.wireType) + contents(type, depth: depth - 1)
            default: Self.tag(3, 0) + number()
            }
        }
    }

    private mutating func number() -> [UInt8] {
        let value: UInt64 = pick([0, 1, 2, 3, 5, 11, 127, 128, 1 << 31, 1 << 32 + 1, .max])
        let bytes = Self.varint(value)
        // A varint may have superfluous bytes, up to ten.
        guard below(16) == 0, bytes.count < 9 else { return bytes }
        return bytes.dropLast() + [bytes.last! | 0x80, 0x80, 0]
    }

    private mutating func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(below(256)) }
    }

    /// Returns a field that is not in the contract: with another number, or with a wire type that
    /// no field has.
    private mutating func unknown(known fields: [ProtoSchema.Field]) -> [UInt8] {
        if below(3) == 0 { return Self.tag(pick(fields).number, 5) + noise(4) }
        return unknown(depth: 3)
    }

    private mutating func unknown(depth: Int) -> [UInt8] {
        let field: UInt64 = pick([100, 2_047, 2_048, 1 << 29 - 1])
        switch below(depth > 0 ? 5 : 4) {
        case 0: return Self.tag(field, 0) + number()
        case 1: return Self.tag(field, 1) + noise(8)
        case 2: return Self.tag(field, 2) + Self.delimited(noise(below(5)))
        case 3: return Self.tag(field, 5) + noise(4)
        default:
            let inside = (0..<below(3)).flatMap { _ in unknown(depth: depth - 1) }
            return Self.tag(field, 3) + inside + Self.tag(field, 4)
        }
    }

    static func tag(_ number: UInt64, _ wireType: UInt64) -> [UInt8] {
        varint(number << 3 | wireType)
    }

    static func delimited(_ contents: [UInt8]) -> [UInt8] {
        varint(UInt64(contents.count)) + contents
    }

    static func varint(_ value: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}

extension ProtoSchema.FieldType {
    var wireType: UInt64 {
        switch self {
        case .bool, .int32, .int64: 0
        case .double: 1
        case .text, .bytes, .message, .map: 2
        }
    }

    /// True if the type has a map somewhere inside.
    func hasMap(in schema: ProtoSchema, seen: Set<String> = []) -> Bool {
        switch self {
        case .map: true
        case .message(let name):
            !seen.contains(name)
                && schema.messages[name]!.contains {
                    $0.type.hasMap(in: schema, seen: seen.union([name]))
                }
        default: false
        }
    }
}
