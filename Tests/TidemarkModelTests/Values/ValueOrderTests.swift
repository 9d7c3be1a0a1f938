import Testing

@testable import TidemarkModel

struct `The order of values` {
    @Test func `is the documented order of kinds`() throws {
        let reference = ReferenceValue(
            database: try DatabaseID(project: "p"), path: try DocumentPath("a/b"))
        let ascending: [Value] = [
            .null, .boolean(false), .boolean(true), .double(.nan), .double(-.infinity),
            .integer(.min), .double(-1.5), .integer(-1), .integer(0), .double(0.5), .integer(1),
            .integer(1 << 53), .integer(1 << 53 + 1), .integer(.max), .double(0x1p63),
            .double(.infinity), .timestamp(.min), .timestamp(.epoch),
            .timestamp(Timestamp(microseconds: 1)), .timestamp(.max),
            .pendingServerTimestamp(localWriteTime: .min, previous: nil),
            .pendingServerTimestamp(localWriteTime: .epoch, previous: .integer(1)),
            .string(""), .string("B"), .string("a"), .string("aa"), .string("é"), .string("日"),
            .string("\u{FFFD}"), .string("\u{10000}"), .bytes([]), .bytes([0]), .bytes([0, 1]),
            .bytes([0x80]), .reference(reference),
            .geoPoint(GeoPoint(latitude: -90, longitude: 180)),
            .geoPoint(GeoPoint(latitude: 0, longitude: -1)),
            .geoPoint(GeoPoint(latitude: 0, longitude: 1)), .array([]), .array([.null]),
            .array([.integer(1)]), .array([.integer(1), .null]), .array([.integer(2)]),
            .vector(VectorValue([9])), .vector(VectorValue([1, 2])), .vector(VectorValue([1, 3])),
            .map([:]), .map(["a": .integer(1)]), .map(["a": .integer(1), "b": .null]),
            .map(["a": .integer(2)]), .map(["b": .null]),
        ]
        for (i, a) in ascending.enumerated() {
            for (j, b) in ascending.enumerated() {
                #expect(Value.compare(a, b) == Comparison(i, j), "\(a) and \(b)")
            }
        }
    }

    @Test func `takes numbers by their exact value`() {
        #expect(Value.integer(3).isEquivalent(to: .double(3)))
        #expect(Value.double(-0.0).isEquivalent(to: .integer(0)))
        #expect(Value.double(-0.0).isEquivalent(to: .double(0)))
        #expect(Value.compare(.integer(1 << 53 + 1), .double(0x1p53)) == .descending)
        #expect(Value.compare(.integer(.max), .double(0x1p63)) == .ascending)
        #expect(Value.compare(.integer(.min), .double(-0x1p63)) == .equal)
        #expect(Value.compare(.integer(.min), .double((-0x1p63).nextDown)) == .descending)
        #expect(Value.compare(.double(.nan), .double(-.nan)) == .equal)
        #expect(Value.compare(.double(.leastNonzeroMagnitude), .integer(0)) == .descending)
    }

    /// The oracle splits doubles into whole multiples of 2^-1074 and compares digit by digit, so it
    /// shares no arithmetic with the tested code.
    @Test func `agrees with exact arithmetic on integers and doubles`() {
        var generator = Generator(seed: 1)
        for _ in 0..<20_000 {
            let integer = generator.integer()
            let double =
                generator.chance(2)
                ? generator.double() : Double(integer) + generator.pick([-1, 0, 0, 0.5, 1])
            let expected = Exact.compare(integer, double)
            #expect(Value.compare(.integer(integer), .double(double)) == expected)
            #expect(Value.compare(.double(double), .integer(integer)) == expected.reversed)
        }
    }

    @Test func `is total, and agrees with itself`() {
        var generator = Generator(seed: 2)
        for _ in 0..<20_000 {
            let a = generator.value()
            let b = generator.chance(4) ? a : generator.value()
            let c = generator.value()
            let ab = Value.compare(a, b)
            #expect(ab == Value.compare(b, a).reversed, "antisymmetry of \(a) and \(b)")
            #expect(Value.compare(a, a) == .equal, "reflexivity of \(a)")
            if ab != .descending, Value.compare(b, c) != .descending {
                #expect(Value.compare(a, c) != .descending, "transitivity of \(a), \(b), \(c)")
            }
            if a == b { #expect(ab == .equal, "stored alike but not equivalent: \(a) and \(b)") }
            if ab == .equal {
                #expect(
                    Set([EquivalentValue(value: a), EquivalentValue(value: b)]).count == 1,
                    "equivalent but hashed apart: \(a) and \(b)")
            }
        }
    }

    @Test func `equal values have equal hashes`() throws {
        var generator = Generator(seed: 3)
        for _ in 0..<5_000 {
            let a = generator.value()
            let b = generator.value()
            if a == b { #expect(a.hashValue == b.hashValue) }
            // The copy is the same value, decoded from bytes.
            let copy = try FieldsCodec.decodeValue(FieldsCodec.encode(a))
            #expect(copy == a)
            #expect(copy.hashValue == a.hashValue)
        }
    }

    @Test func `tells stored numbers apart that are equivalent`() {
        #expect(Value.integer(3) != .double(3))
        #expect(Value.double(0) != .double(-0.0))
        #expect(Value.double(.nan) == .double(-.nan))
        #expect(Value.vector(VectorValue([.nan])) == .vector(VectorValue([.signalingNaN])))
        #expect(
            Value.geoPoint(GeoPoint(latitude: 0, longitude: 0))
                != .geoPoint(GeoPoint(latitude: -0.0, longitude: 0)))
    }
}

/// Compares an integer with a double as magnitudes in units of 2^-1074, in base 2^32.
private enum Exact {
    static func compare(_ integer: Int64, _ double: Double) -> Comparison {
        if double.isNaN { return .descending }
        if double.isInfinite { return double < 0 ? .descending : .ascending }
        let a = (
            sign: Int(integer.signum()), digits: digits(UInt64(integer.magnitude), shift: 1_074)
        )
        let b = (sign: double == 0 ? 0 : (double < 0 ? -1 : 1), digits: digits(double))
        if a.sign != b.sign { return Comparison(a.sign, b.sign) }
        let order = magnitude(a.digits, b.digits)
        return a.sign < 0 ? order.reversed : order
    }

    private static func digits(_ double: Double) -> [UInt32] {
        let raw = double.exponentBitPattern
        let significand = double.significandBitPattern | (raw == 0 ? 0 : 1 << 52)
        return digits(significand, shift: max(Int(raw), 1) - 1)
    }

    /// Returns `value << shift`, the least significant digit first.
    private static func digits(_ value: UInt64, shift: Int) -> [UInt32] {
        var result = [UInt32](repeating: 0, count: 70)
        for bit in 0..<64 where value >> UInt64(bit) & 1 == 1 {
            result[(bit + shift) / 32] |= 1 << UInt32((bit + shift) % 32)
        }
        return result
    }

    private static func magnitude(_ a: [UInt32], _ b: [UInt32]) -> Comparison {
        for (x, y) in zip(a.reversed(), b.reversed()) where x != y { return Comparison(x, y) }
        return .equal
    }
}
