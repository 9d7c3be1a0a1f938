import Testing

@testable import TidemarkModel

struct `Field paths` {
    @Test(arguments: [
        (["a"], "a"), (["a", "b"], "a.b"), (["_a1"], "_a1"), (["1a"], "`1a`"), (["a.b"], "`a.b`"),
        (["a", "b.c", "d"], "a.`b.c`.d"), (["`"], "`\\``"), (["\\"], "`\\\\`"), (["é"], "`é`"),
        ([" "], "` `"), (["a\u{0}"], "`a\u{0}`"), (["👩‍👧"], "`👩‍👧`"),
    ])
    func `are written as on the wire, and read back`(segments: [String], text: String) throws {
        let path = try FieldPath(segments: segments)
        #expect(path.encoded == text)
        #expect(try FieldPath(encoded: text) == path)
    }

    @Test func `survive any name`() throws {
        var generator = Generator(seed: 10)
        for _ in 0..<5_000 {
            let segments = generator.list(upTo: 3) { $0.text() }.filter { !$0.isEmpty }
            if segments.isEmpty { continue }
            let path = try FieldPath(segments: segments)
            #expect(try FieldPath(encoded: path.encoded) == path)
        }
    }

    @Test func `answer any text with a path or an error`() {
        var generator = Generator(seed: 11)
        var parsed = 0
        for _ in 0..<20_000 {
            let text = generator.list(upTo: 8) {
                $0.pick(["a", "B", "1", "_", ".", "`", "\\", "é", "\u{301}"])
            }.joined()
            guard let path = try? FieldPath(encoded: text) else { continue }
            parsed += 1
            #expect((try? FieldPath(encoded: path.encoded)) == path, "\(text)")
        }
        #expect(parsed > 500)
    }

    @Test(arguments: [
        "", ".", "a.", ".a", "a..b", "1a", "a b", "`a", "a`", "`a`b", "``", "`\\", "a.`",
    ])
    func `refuse what is none`(text: String) {
        #expect(throws: InvalidPath.self) { try FieldPath(encoded: text) }
    }

    @Test func `have bounds`() {
        #expect(throws: Never.self) {
            try FieldPath(segments: [String(repeating: "a", count: 1_500)])
        }
        #expect(throws: InvalidPath.tooLong(bytes: 1_501, limit: 1_500)) {
            try FieldPath(segments: [String(repeating: "a", count: 1_501)])
        }
        #expect(throws: InvalidPath.self) { try FieldPath(segments: []) }
        #expect(throws: InvalidPath.self) { try FieldPath(segments: ["a", ""]) }
    }

    @Test func `stand right before what lies below them`() {
        var generator = Generator(seed: 12)
        for _ in 0..<3_000 {
            let (a, b) = (generator.fieldPath(), generator.fieldPath())
            #expect((a == b) == (!(a < b) && !(b < a)))
            if a == b { #expect(a.hashValue == b.hashValue) }
            if a.isPrefix(of: b), a != b { #expect(a < b) }
        }
        #expect(FieldPath(unchecked: ["a", "b"]) < FieldPath(unchecked: ["a!"]))
    }

    @Test func `compare by bytes`() throws {
        #expect(try FieldPath(segments: ["\u{E9}"]) != FieldPath(segments: ["e\u{301}"]))
    }
}
