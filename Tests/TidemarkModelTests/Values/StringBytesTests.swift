import Testing

@testable import TidemarkModel

struct `Text by its bytes` {
    @Test func `keeps apart what Swift calls the same`() {
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        #expect(composed == decomposed, "Swift's own answer, from which all of this protects")
        #expect(!composed.hasSameBytes(as: decomposed))
        #expect(decomposed.precedesInBytes(composed))
        #expect(Value.string(composed) != .string(decomposed))
        let fields: MapValue = [composed: .integer(1), decomposed: .integer(2)]
        #expect(fields.count == 2)
        #expect(fields[composed] == .integer(1))
        #expect(fields[decomposed] == .integer(2))
        #expect(ByteString(composed) != ByteString(decomposed))
    }

    @Test func `orders what UTF-16 orders the other way`() {
        // In UTF-16, U+10000 is the surrogate pair D800 DC00, which is below U+FFFD. In UTF-8 it is
        // above.
        #expect("\u{FFFD}".precedesInBytes("\u{10000}"))
        #expect(!"\u{10000}".precedesInBytes("\u{FFFD}"))
        #expect("\u{FFFD}".utf16.first! > "\u{10000}".utf16.first!)
    }

    @Test func `agrees with comparing byte by byte`() {
        var generator = Generator(seed: 4)
        for _ in 0..<20_000 {
            let a = generator.text()
            let b = generator.chance(3) ? a + generator.text() : generator.text()
            let expected: Comparison =
                a.utf8.lexicographicallyPrecedes(b.utf8)
                ? .ascending : (a.utf8.elementsEqual(b.utf8) ? .equal : .descending)
            #expect(Comparison.bytes(a, b) == expected)
            #expect(Comparison.bytes(Array(a.utf8), Array(b.utf8)) == expected)
            #expect(a.hasSameBytes(as: b) == (expected == .equal))
            #expect(a.precedesInBytes(b) == (expected == .ascending))
        }
    }

    @Test func `two databases with canonically equal names are two`() throws {
        let a = try DatabaseID(project: "\u{E9}")
        let b = try DatabaseID(project: "e\u{301}")
        #expect(a != b)
        #expect(Set([a, b]).count == 2)
    }
}
