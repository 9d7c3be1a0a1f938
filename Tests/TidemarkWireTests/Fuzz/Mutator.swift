import TidemarkModel

/// Makes bytes that are almost correct, or completely random.
struct Mutator {
    private var random: SeededRandom
    /// Parts of correct messages, to insert into others.
    private var parts: [[UInt8]] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func noise() -> [UInt8] {
        (0..<below(200)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Returns `bytes` with up to eight errors. A quarter of the messages has none, because the
    /// server needs some state.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0..<(below(4) == 0 ? 0 : 1 + below(8)) { damage(&result) }
        if below(16) == 0 {
            if parts.count < 256 { parts.append(bytes) } else { parts[below(256)] = bytes }
        }
        return result
    }

    private mutating func damage(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes = noise() }
        let place = below(bytes.count)
        switch below(9) {
        case 0: bytes[place] ^= 1 << UInt8(below(8))
        case 1: bytes[place] = [0, 0x7F, 0x80, 0xFF, 0xC0][below(5)]
        case 2: bytes.removeSubrange(place...)
        case 3: bytes.insert(contentsOf: noise(), at: place)
        case 4:
            // The cases are lengths and numbers at the limits.
            let numbers: [[UInt8]] = [
                [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0xFF, 0xFF, 0xFF, 0xFF, 0x07], [0x80, 0x80, 0],
                Array(repeating: 0xFF, count: 9) + [1], Array(repeating: 0x80, count: 12),
            ]
            bytes.insert(contentsOf: numbers[below(numbers.count)], at: place)
        case 5:
            let end = min(bytes.count, place + 1 + below(20))
            bytes.insert(contentsOf: bytes[place..<end], at: below(bytes.count))
        case 6: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(8)))
        case 7:
            guard let part = parts.randomElement(using: &random), !part.isEmpty else { return }
            let start = Int.random(in: 0..<part.count, using: &random)
            bytes.insert(contentsOf: part[start...].prefix(60), at: place)
        default:
            // The result is deeply nested: a value in an array in a value, and so on.
            for _ in 0..<1 + below(60) {
                if bytes.count > 4_000 { return }
                bytes = Self.field(9, Self.field(1, bytes))
            }
        }
    }

    private static func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        var length = bytes.count
        var result = [number << 3 | 2]
        while length > 0x7F {
            result.append(UInt8(length & 0x7F) | 0x80)
            length >>= 7
        }
        result.append(UInt8(length))
        return result + bytes
    }
}
