import Testing

@testable import TidemarkModel

struct `Whole documents on the wire` {
    private func decode(_ bytes: [UInt8]) throws -> WireDocument {
        let result: Result<WireDocument, CodecError> = bytes.withUnsafeBytes { buffer in
            do throws(CodecError) { return .success(try DocumentCodec.decode(buffer)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    @Test func `come back as they went`() throws {
        var generator = Generator(seed: 20)
        for _ in 0..<1_000 {
            let document = WireDocument(
                name: generator.reference().name,
                contents: EncodedFields(generator.fields(depth: 2)),
                createTime: generator.chance(3) ? nil : generator.timestamp(),
                updateTime: generator.chance(3) ? nil : generator.timestamp())
            #expect(try decode(DocumentCodec.encode(document)) == document)
            let values = generator.list(upTo: 4) { $0.value(depth: 2) }
            #expect(try DocumentCodec.decodeArray(DocumentCodec.encode(values)) == values)
        }
    }

    @Test func `damaged give an error or a document`() throws {
        var generator = Generator(seed: 21)
        let document = WireDocument(
            name: "n", contents: EncodedFields(["a": .array([.integer(1), .string("é")])]),
            createTime: .epoch, updateTime: .max)
        let bytes = DocumentCodec.encode(document)
        var decoded = 0
        for _ in 0..<5_000 {
            var damaged = bytes
            damaged[generator.number(0...bytes.count - 1)] = UInt8(generator.number(0...255))
            if generator.chance(4) { damaged.removeLast(generator.number(0...bytes.count)) }
            if let read = try? decode(damaged) {
                decoded += 1
                #expect(try decode(DocumentCodec.encode(read)) == read)
            }
        }
        #expect(decoded > 100)
    }
}
