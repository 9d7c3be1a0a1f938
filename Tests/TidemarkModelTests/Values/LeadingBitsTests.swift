import Testing

@testable import TidemarkModel

struct `Leading bits` {
    @Test func `never order two values otherwise than their comparison`() {
        var random = Generator(seed: 17)
        let values = (0..<2_000).map { _ in random.value() }
        for a in values {
            for b in values.prefix(500) where a.leadingBits != b.leadingBits {
                let order = Comparison(a.leadingBits, b.leadingBits)
                #expect(Value.compare(a, b) == order, "\(a) and \(b)")
            }
        }
    }

    @Test func `notify neighbouring times, numbers and names apart`() throws {
        let times = [0, 1_000, 1_000_000].map { Value.timestamp(Timestamp(microseconds: $0)) }
        #expect(Set(times.map(\.leadingBits)).count == times.count)
        #expect(Value.integer(6).leadingBits < Value.integer(7).leadingBits)
        #expect(Value.double(-0.0).leadingBits == Value.integer(0).leadingBits)
        let edges: [Value] = [.timestamp(.min), .timestamp(.epoch), .timestamp(.max)]
        #expect(edges.map(\.leadingBits) == edges.map(\.leadingBits).sorted())
        #expect(Set(edges.map(\.leadingBits)).count == 3)
    }

    @Test func `of ids are in the order of paths of one collection`() throws {
        let ids = [
            "__id9__", "__id10__", "__id-3__", "0", "a", "aa", "abcdefgh", "abcdefghi", "abcdefgi",
            "é",
            "日", "\u{10000}", "_", "__i",
        ]
        let paths = try ids.map { try DocumentPath("rooms/blue/messages/" + $0) }
        for a in paths {
            for b in paths where a.leadingIDBits != b.leadingIDBits {
                #expect(
                    DocumentPath.compare(a, b) == Comparison(a.leadingIDBits, b.leadingIDBits),
                    "\(a) and \(b)")
            }
        }
        #expect(paths[3].leadingIDBits < paths[4].leadingIDBits)
    }
}
