import Foundation
import Testing

@testable import TidemarkModel

/// Compares the reading and writing of JSON with Foundation, on the same texts.
struct JSONValueTests {
    /// The letter é as one character, and as two.
    private static let (one, two) = ("\u{E9}", "e\u{301}")

    private func written(_ value: JSONValue, sorted: Bool = true) -> String {
        String(decoding: JSONWriter.bytes(of: value, isSorted: sorted), as: UTF8.self)
    }

    @Test func `names that differ in composition alone are two`() throws {
        let text = "{\"\(Self.one)\":1,\"\(Self.two)\":2,\"\\u00e9\":3}"
        let object = try #require(try JSONValue(Array(text.utf8)).object)
        #expect(Array(object).count == 3)
        guard case .integer(3)? = object[Self.one], case .integer(2)? = object[Self.two] else {
            Issue.record("each name has its own value, of a name that is there twice the last one")
            return
        }
        let whole = try JSONValue(Array(text.utf8))
        #expect(
            written(whole, sorted: false).utf8.elementsEqual(
                "{\"\(Self.one)\":1,\"\(Self.two)\":2,\"\(Self.one)\":3}".utf8))
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// A type that stores all keys of its container.
    private struct Pairs: Codable {
        var pairs: [(String, Int)]

        init(_ pairs: [(String, Int)]) { self.pairs = pairs }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            pairs = try container.allKeys.map {
                ($0.stringValue, try container.decode(Int.self, forKey: $0))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in pairs {
                try container.encode(value, forKey: Name(stringValue: name))
            }
        }
    }

    @Test func `a type that keeps all keys gets both, and writes both`() throws {
        let bytes = try JSONValueEncoder().encode(Pairs([(Self.one, 1), (Self.two, 2)]))
        #expect(bytes == Array("{\"\(Self.one)\":1,\"\(Self.two)\":2}".utf8))
        let read = try JSONValueDecoder().decode(Pairs.self, from: bytes).pairs
        #expect(read.map(\.1) == [1, 2])
        #expect(read[0].0.hasSameBytes(as: Self.one) && read[1].0.hasSameBytes(as: Self.two))
    }

    @Test(arguments: [
        "", " ", "[1,]", #"{"a":1,}"#, "01", "-", "1.", ".5", "1e", "+1", "0x1", "nul", "truex",
        #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, #""\x""#, "\"\u{1}\"", #"{"a" 1}"#,
        "[1 2]", "[", #"{"a":"#, #""abc"#, #""\u12""#, "{1:2}", "1 2", "]", "NaN", "'a'",
        String(repeating: "[", count: 513) + String(repeating: "]", count: 513),
    ])
    func `what is no JSON is refused`(text: String) {
        #expect(throws: JSONFault.self) { _ = try JSONValue(Array(text.utf8)) }
    }

    @Test(
        arguments: [
            [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22], [0x22, 0xFF, 0x22],
            [0x22, 0xE2, 0x82],
        ] as [[UInt8]])
    func `what is no UTF-8 is refused`(bytes: [UInt8]) {
        #expect(throws: JSONFault.self) { _ = try JSONValue(bytes) }
    }

    @Test func `values beyond the bound are refused while they are counted`() throws {
        _ = try JSONValue(Array("[1,2,3]".utf8), maxValues: 4)
        #expect {
            _ = try JSONValue(Array("[1,2,3]".utf8), maxValues: 3)
        } throws: { ($0 as? JSONFault)?.message == "More than 3 values (byte 5)" }
    }

    @Test func `minus zero keeps its sign, and large integers their size`() throws {
        let text = #"[-0,-0.0,9223372036854775807,9223372036854775808,1e2,1E400]"#
        #expect(
            written(try JSONValue(Array(text.utf8)))
                == "[-0,-0,9223372036854775807,9.223372036854776e+18,100,null]")
    }

    /// Compares with Foundation the contents of random texts, and the errors.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func `reads what Foundation reads`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var text = JSONTexts.text(depth: 4, &random)
        // Every third text has one wrong byte.
        if seed % 3 == 0, !text.isEmpty {
            let place = Int.random(in: 0..<text.count, using: &random)
            // The byte is never a digit, because Foundation rounds some numbers in notations other
            // than Swift's.
            text[place] = Array("{}[]\",:\\ nx/".utf8).randomElement(using: &random)!
        }
        let theirs = try? JSONSerialization.jsonObject(
            with: Data(text), options: .fragmentsAllowed)
        let ours = try? JSONValue(text)
        #expect((ours == nil) == (theirs == nil), "\(String(decoding: text, as: UTF8.self))")
        guard let ours, let theirs else { return }
        let again = try JSONSerialization.jsonObject(
            with: Data(JSONWriter.bytes(of: ours, isPretty: seed.isMultiple(of: 2))),
            options: .fragmentsAllowed)
        #expect(again as? NSObject == theirs as? NSObject)
    }
}

/// Random JSON texts in which no object has two equal names.
private enum JSONTexts {
    static func text(depth: Int, _ random: inout SeededRandom) -> [UInt8] {
        var text = ""
        add(depth: depth, &random, to: &text)
        return Array(text.utf8)
    }

    private static let scalars = [
        #"\n"#, #"\""#, #"\\"#, #"\/"#, #"\u00e9"#, #"\ud83d\ude00"#, "ü", "🏝️", "a", "Z", " ",
    ]

    private static func string(_ random: inout SeededRandom) -> String {
        let count = Int.random(in: 0..<6, using: &random)
        return "\"" + (0..<count).map { _ in scalars.randomElement(using: &random)! }.joined()
            + "\""
    }

    private static func add(depth: Int, _ random: inout SeededRandom, to text: inout String) {
        let blank = ["", " ", "\n\t", "\r"].randomElement(using: &random)!
        text += blank
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: text += "null"
        case 1: text += Bool.random(using: &random) ? "true" : "false"
        case 2: text += "\(Int64.random(in: -1_000_000...1_000_000, using: &random))"
        case 3: text += "\(Double.random(in: -1e10...1e10, using: &random))"
        case 4: text += ["0.5", "-1e-7", "3E+5", "12345678901"].randomElement(using: &random)!
        case 5: text += string(&random)
        case 6, 7:
            text += "{"
            for index in 0..<Int.random(in: 0..<5, using: &random) {
                text += index > 0 ? ",\(blank)" : blank
                text += "\"k\(index)" + string(&random).dropFirst() + "\(blank):"
                add(depth: depth - 1, &random, to: &text)
            }
            text += "\(blank)}"
        default:
            text += "["
            for index in 0..<Int.random(in: 0..<5, using: &random) {
                if index > 0 { text += "," }
                add(depth: depth - 1, &random, to: &text)
            }
            text += "]"
        }
        text += blank
    }
}
