import Testing
import TestSupport

@testable import TidemarkModel

/// Compares fields that are found in one pass with fields that are looked up one at a time.
struct `Fields in one pass` {
    private static let names = ["", "a", "aa", "ab", "b", "é", "longer name", "n", "zz"]

    private func fields(_ random: inout SeededRandom) -> MapValue {
        let values: [Value] = [
            .null, .integer(-1), .double(.nan), .string("text"), .array([.null]), .map([:]),
            .bytes([88, 0]), .boolean(false),
        ]
        return MapValue(
            Self.names.filter { _ in Bool.random(using: &random) }
                .map { ($0, values.randomElement(using: &random)!) })
    }

    private func check(_ wanted: [String], in bytes: [UInt8]) throws {
        let names = FieldNames(wanted)
        var found = [EncodedValue?](repeating: nil, count: names.count)
        try bytes.withUnsafeBufferPointer { buffer in
            let fields = FieldsInPlace(bytes: buffer)
            names.find(in: fields, &found)
            for name in wanted {
                let value = found[try #require(names.place(of: name))]
                #expect(value?.decoded == fields[FieldPath(name: name)])
                if let value { #expect(value.isNull == (value.decoded == .null)) }
            }
        }
    }

    @Test func `are those of single lookups, in damaged bytes too`() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<1_000 {
            var bytes = EncodedFields(fields(&random)).bytes
            let wanted = Self.names.filter { _ in Bool.random(using: &random) } + ["a"]
            try check(wanted, in: bytes)
            try check(wanted, in: Array(bytes.prefix(Int.random(in: 0...60, using: &random))))
            guard !bytes.isEmpty else { continue }
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                in: 0...255, using: &random)
            try check(wanted, in: bytes)
        }
    }

    @Test func `have places in any order of names`() {
        let names = FieldNames(["b", "a", "b"])
        #expect(names.count == 2 && names.place(of: "a") == 0 && names.place(of: "b") == 1)
        #expect(names.place(of: "c") == nil)
    }
}
