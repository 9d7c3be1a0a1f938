import Foundation
import Testing
import TidemarkModel

@testable import TidemarkREST

/// Compares JSON text with the results of Foundation's encoder and reader.
struct JSONOutputTests {
    @Test func `is the text that Foundation writes`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        for seed in 0..<2_000 as Range<UInt64> {
            var dice = JSONDice(random: SeededRandom(seed: seed))
            let json = dice.json(depth: 4)
            let text = String(decoding: json.data(isSorted: true), as: UTF8.self)
            let expected = String(decoding: try encoder.encode(Encoded(json)), as: UTF8.self)
            #expect(text == expected, "seed \(seed)")
        }
    }

    @Test func `is read as what was written, in each form`() throws {
        for seed in 0..<500 as Range<UInt64> {
            var dice = JSONDice(random: SeededRandom(seed: seed))
            let json = dice.json(depth: 4)
            let sorted = json.data(isSorted: true)
            for data in [json.data(), json.data(isPretty: true)] {
                let read = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
                let expected = try JSONSerialization.jsonObject(
                    with: sorted, options: .fragmentsAllowed)
                #expect(read as? NSObject == expected as? NSObject, "seed \(seed)")
            }
        }
    }

    @Test func `is over lines for people`() {
        let json = JSONOutput.object([
            .init("b", .list([.integer(1), .list([])])), .init("a", .object([])),
        ])
        let text = String(decoding: json.data(isPretty: true), as: UTF8.self)
        #expect(
            text == """
                {
                  "a": {},
                  "b": [
                    1,
                    []
                  ]
                }
                """)
    }

    /// The JSON in the form that Foundation's encoder accepts.
    private struct Encoded: Encodable {
        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(_ text: String) { stringValue = text }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        private let json: JSONOutput

        init(_ json: JSONOutput) { self.json = json }

        func encode(to encoder: any Encoder) throws {
            switch json {
            case .object(let members):
                var container = encoder.container(keyedBy: Name.self)
                for member in members {
                    try container.encode(Encoded(member.value), forKey: Name(member.name))
                }
            case .list(let elements):
                var container = encoder.unkeyedContainer()
                for element in elements { try container.encode(Encoded(element)) }
            default:
                var container = encoder.singleValueContainer()
                switch json {
                case .bool(let flag): try container.encode(flag)
                case .integer(let number): try container.encode(number)
                case .number(let number): try container.encode(number)
                case .text(let text): try container.encode(text)
                default: try container.encodeNil()
                }
            }
        }
    }
}

/// Makes JSON of all kinds, with the characters that affect its text.
private struct JSONDice {
    var random: SeededRandom

    private mutating func below(_ bound: UInt64) -> Int { Int(random.next() % bound) }

    mutating func json(depth: Int) -> JSONOutput {
        switch below(depth > 0 ? 9 : 6) {
        case 0: return .null
        case 1: return .bool(below(2) == 0)
        case 2: return .integer(Int64(bitPattern: random.next()))
        case 3: return .number(number())
        case 4, 5: return .text(text())
        case 6: return .list((0..<below(4)).map { _ in json(depth: depth - 1) })
        default:
            // An object contains each name once.
            let names = Set((0..<below(5)).map { _ in text() })
            return .object(names.sorted().map { .init($0, json(depth: depth - 1)) })
        }
    }

    private mutating func number() -> Double {
        let whole = Double(below(2_000)) - 1_000
        switch below(4) {
        case 0: return whole
        case 1: return -0.0
        case 2: return whole / 7
        default:
            let any = Double(bitPattern: random.next())
            return any.isFinite ? any : 1e300
        }
    }

    private mutating func text() -> String {
        let parts = [
            "a", "B", "10", "9", "é", "e\u{301}", "\u{0}", "\u{1F}", "\u{8}", "\u{C}", "\n", "\r",
            "\t", "\"", "\\", "/", "\u{7F}", "\u{2028}", "😀", "</script>", " ",
        ]
        return (0..<below(6)).map { _ in parts[below(UInt64(parts.count))] }.joined()
    }
}
