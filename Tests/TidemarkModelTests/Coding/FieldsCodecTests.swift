import Testing

@testable import TidemarkModel

struct `The codec` {
    @Test func `gives back what it was given, and encodes it alike`() throws {
        var generator = Generator(seed: 7)
        for _ in 0..<5_000 {
            let fields = generator.fields()
            let bytes = FieldsCodec.encode(fields)
            let decoded = try FieldsCodec.decode(bytes)
            #expect(decoded == fields)
            #expect(FieldsCodec.encode(decoded) == bytes)
        }
    }

    @Test func `has one form for values that are stored alike, and no other value has it`() {
        var generator = Generator(seed: 13)
        var alike = 0
        for _ in 0..<20_000 {
            let a = generator.fields()
            // Most pairs have the same entries in another order, or one different entry.
            var b = MapValue()
            for entry in a.reversed() { b[entry.key] = entry.value }
            if generator.chance(2), let key = a.first?.key { b[key] = generator.value() }
            if a == b { alike += 1 }
            #expect((a == b) == (EncodedFields(a) == EncodedFields(b)), "\(a) and \(b)")
        }
        #expect((1_000..<19_000).contains(alike))
        let nans = [Double.nan, -Double.nan, Double(nan: 7, signaling: false)]
        #expect(Set(nans.map { EncodedFields(["a": .double($0)]) }).count == 1)
        #expect(EncodedFields(["a": .double(0)]) != EncodedFields(["a": .double(-0.0)]))
        #expect(EncodedFields(["a": .integer(3)]) != EncodedFields(["a": .double(3)]))
    }

    @Test func `tells of two documents whether they surely agree on a field`() {
        var generator = Generator(seed: 17)
        var (agreed, differed) = (0, 0)
        for _ in 0..<5_000 {
            let a = generator.fields()
            var b = a
            for entry in a where generator.chance(3) { b[entry.key] = generator.value() }
            var paths = Generator.texts.map { FieldPath(unchecked: [$0]) }
            for entry in a {
                guard case .map(let inner) = entry.value else { continue }
                paths += inner.map { FieldPath(unchecked: [entry.key, $0.key]) }
            }
            for path in paths {
                let isSure = EncodedFields(a).hasSameEncoding(as: EncodedFields(b), at: path)
                if isSure { #expect(a[path] == b[path]) }
                if path.segments.count == 1 {
                    #expect(isSure == (a[path] != nil && a[path] == b[path]))
                }
                if isSure { agreed += 1 } else if a[path] != nil { differed += 1 }
            }
        }
        #expect(agreed > 1_000 && differed > 1_000)
        let damaged = EncodedFields(trusted: [0x12, 0xFF])
        #expect(!damaged.hasSameEncoding(as: damaged, at: FieldPath(name: "a")))
    }

    @Test func `finds one field in the bytes as it does in all of them decoded`() throws {
        var generator = Generator(seed: 11)
        var found = 0
        for _ in 0..<2_000 {
            let fields = generator.fields()
            let encoded = EncodedFields(fields)
            let decoded = encoded.decoded
            var paths = Generator.texts.map { FieldPath(unchecked: [$0]) }
            for entry in decoded {
                guard case .map(let inner) = entry.value else { continue }
                paths += inner.map { FieldPath(unchecked: [entry.key, $0.key]) }
                paths += Generator.texts.map { FieldPath(unchecked: [entry.key, $0]) }
            }
            paths += decoded.map { FieldPath(unchecked: [$0.key, "inside"]) }
            for path in paths {
                let value = encoded[path]
                #expect(value == decoded[path], "\(path) of \(decoded)")
                if value != nil { found += 1 }
            }
        }
        #expect(found > 1_000)
    }

    @Test func `writes the bytes that protobuf asks for`() throws {
        // The bytes are written by hand, from the field numbers of google.firestore.v1.
        #expect(FieldsCodec.encode(["a": .integer(1)]) == [0x12, 7, 10, 1, 97, 0x12, 2, 16, 1])
        #expect(FieldsCodec.encode(Value.null) == [0x58, 0])
        #expect(FieldsCodec.encode(.boolean(false)) == [0x08, 0])
        #expect(
            FieldsCodec.encode(.integer(-1)) == [0x10] + [UInt8](repeating: 0xFF, count: 9) + [1])
        #expect(FieldsCodec.encode(.double(1)) == [0x19, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
        #expect(FieldsCodec.encode(.timestamp(.epoch)) == [0x52, 0])
        #expect(
            FieldsCodec.encode(.timestamp(Timestamp(seconds: 1, nanoseconds: 2))) == [
                0x52, 4, 8, 1, 16, 2,
            ])
        #expect(FieldsCodec.encode(.string("é")) == [0x8A, 1, 2, 0xC3, 0xA9])
        #expect(FieldsCodec.encode(.bytes([7])) == [0x92, 1, 1, 7])
        #expect(FieldsCodec.encode(.array([.null])) == [0x4A, 4, 10, 2, 0x58, 0])
        #expect(FieldsCodec.encode(.map([:])) == [0x32, 0])
        #expect(
            FieldsCodec.encode(.map(["k": .null])) == [
                0x32, 9, 10, 7, 10, 1, 107, 0x12, 2, 0x58, 0,
            ])
    }

    @Test func `sorts what comes in another order, the last of a key winning`() throws {
        func entry(_ key: String, _ value: Int64) -> [UInt8] {
            FieldsCodec.encode([key: .integer(value)])
        }
        let shuffled = entry("b", 1) + entry("a", 2) + entry("c", 3) + entry("b", 4)
        let fields = try FieldsCodec.decode(shuffled)
        #expect(fields == ["a": .integer(2), "b": .integer(4), "c": .integer(3)])
        let encoded = try EncodedFields(validating: shuffled)
        #expect(encoded == EncodedFields(fields), "bytes from elsewhere become canonical")
    }

    @Test func `passes over fields it does not know`() throws {
        let unknown: [UInt8] = [0x9A, 0x06, 2, 1, 2]  // Field 99, two bytes.
        #expect(try FieldsCodec.decodeValue(unknown + [16, 5] + unknown) == .integer(5))
        #expect(try FieldsCodec.decode(unknown) == [:])
    }

    @Test(arguments: [
        ([0x10], CodecError.truncated),
        ([0x10, 0x80], .truncated),
        ([0x10] + [UInt8](repeating: 0xFF, count: 10), .malformed),
        ([0x8A, 1, 5, 65], .truncated),
        ([0x8A, 1, 2, 0xC3, 0x28], .invalidUTF8),
        ([0x8A, 1, 3, 0xED, 0xA0, 0x80], .invalidUTF8),
        ([0x8A, 1, 1, 0x80], .invalidUTF8),
        ([], .noKind),
        ([0x00, 0], .malformed),
        ([0x0B], .malformed),
        ([0x52, 7, 8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], .outOfRange),
        ([0x52, 2, 16, 0x80], .truncated),
        ([0x42, 9, 9, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F], .outOfRange),
        ([0x2A, 1, 97], .invalidReference("a")),
        ([0x9A, 1, 0], .unsupportedKind(field: 19)),
    ])
    func `says what is wrong with bytes`(bytes: [UInt8], expected: CodecError) {
        #expect(throws: expected) { try FieldsCodec.decodeValue(bytes) }
        #expect(!expected.message.isEmpty)
    }

    @Test func `goes down no deeper than its bound`() throws {
        func nested(_ depth: Int) -> Value {
            (0..<depth).reduce(.null) { inner, _ in .map(["a": inner]) }
        }
        let deepest = nested(FieldsCodec.maxDepth)
        #expect(try FieldsCodec.decodeValue(FieldsCodec.encode(deepest)) == deepest)
        #expect(throws: CodecError.tooDeep) {
            try FieldsCodec.decodeValue(FieldsCodec.encode(nested(FieldsCodec.maxDepth + 1)))
        }
        let arrays = (0...FieldsCodec.maxDepth).reduce(Value.null) { inner, _ in .array([inner]) }
        #expect(throws: CodecError.tooDeep) {
            try FieldsCodec.decodeValue(FieldsCodec.encode(arrays))
        }
    }

    @Test func `answers any bytes with a value or an error`() throws {
        var generator = Generator(seed: 8)
        var decoded = 0
        for _ in 0..<60_000 {
            let bytes = generator.list(upTo: 24) { generator in
                generator.chance(2)
                    ? generator.pick([0x0A, 0x12, 0x10, 0x32, 0x4A, 0x8A, 1, 2, 0, 0x58, 0x80])
                    : UInt8(generator.number(0...255))
            }
            decoded += try check(bytes)
        }
        #expect(decoded > 100, "nearly all was refused: this shows little")
    }

    @Test func `answers damaged bytes with a value or an error`() throws {
        var generator = Generator(seed: 9)
        var decoded = 0
        for _ in 0..<2_000 {
            let bytes = FieldsCodec.encode(generator.fields(depth: 2))
            if bytes.isEmpty { continue }
            for _ in 0..<20 {
                var damaged = bytes
                let index = generator.number(0...bytes.count - 1)
                switch generator.number(0...2) {
                case 0: damaged[index] ^= 1 << UInt8(generator.number(0...7))
                case 1: damaged.removeSubrange(index...)
                default: damaged.insert(UInt8(generator.number(0...255)), at: index)
                }
                decoded += try check(damaged)
            }
        }
        #expect(decoded > 1_000)
    }

    /// Decoded fields must encode, and decode to the same fields again. The check of the bytes must
    /// have the same outcome as decoding them.
    private func check(_ bytes: [UInt8]) throws -> Int {
        let (error, checked) = (
            failure { try FieldsCodec.decode(bytes) },
            failure { try bytes.withUnsafeBufferPointer { try FieldsCodec.check($0) } }
        )
        #expect((error == nil) == (checked == nil), "\(bytes)")
        guard let fields = try? FieldsCodec.decode(bytes) else { return 0 }
        #expect(try FieldsCodec.decode(FieldsCodec.encode(fields)) == fields, "\(bytes)")
        return 1
    }

    private func failure(_ body: () throws -> some Any) -> (any Error)? {
        do { _ = try body() } catch { return error }
        return nil
    }

    @Test func `takes a map for a vector or a pending time only when nothing is lost`() throws {
        let vector = Value.vector(VectorValue([1, .infinity]))
        #expect(try FieldsCodec.decodeValue(FieldsCodec.encode(vector)) == vector)
        for fields: MapValue in [
            ["__type__": .string("__vector__"), "value": .array([.string("no number")])],
            ["__type__": .string("__vector__"), "value": .array([]), "more": .null],
            ["__type__": .string("server_timestamp"), "__local_write_time__": .integer(1)],
            [
                "__type__": .string("server_timestamp"),
                "__local_write_time__": .timestamp(.epoch), "more": .null,
            ],
            ["__type__": .string("other"), "value": .array([])],
            ["__type__": .integer(1)],
        ] {
            let bytes = FieldsCodec.encode(.map(fields))
            #expect(try FieldsCodec.decodeValue(bytes) == .map(fields))
        }
    }

    @Test func `reads a great map in any order in time`() throws {
        // A separate insertion of each entry in its place would move about 5 billion entries.
        let fields = MapValue((0..<100_000).map { ("key\($0)", Value.integer(Int64($0))) })
        let reversed = fields.entries.reversed().flatMap { FieldsCodec.encode([$0.key: $0.value]) }
        #expect(try FieldsCodec.decode(reversed) == fields)
    }
}
