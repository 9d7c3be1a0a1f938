import SwiftProtobuf
import Testing

@testable import TidemarkWire

/// Compares our messages with SwiftProtobuf's, on random bytes of the contract.
struct MessageOracleTests {
    private static let seeds = UInt64(0)..<200

    @Test(arguments: OraclePair.all)
    func `bytes in any form mean what they mean to protobuf`(pair: OraclePair) throws {
        for seed in Self.seeds {
            var maker = MessageMaker(seed: seed)
            let bytes = maker.message(pair.name)
            let expected = try #require(pair.theirs(bytes), "seed \(seed) made no message")
            #expect(pair.ours(bytes) == expected, "seed \(seed): \(bytes)")
        }
    }

    @Test(arguments: OraclePair.all)
    func `damaged bytes are refused where protobuf refuses them`(pair: OraclePair) {
        for seed in Self.seeds {
            var maker = MessageMaker(seed: seed)
            var mutator = Mutator(seed: seed)
            let bytes = mutator.mutated(maker.message(pair.name))
            let ours = pair.ours(bytes)
            // In a map's entry, SwiftProtobuf reads a field of another wire type as more fields.
            if pair.hasMap { continue }
            #expect(ours == pair.theirs(bytes), "seed \(seed): \(bytes)")
        }
    }

    @Test(arguments: OraclePair.all)
    func `a message that ends too early is refused where protobuf refuses it`(pair: OraclePair) {
        for seed in UInt64(1_000)..<1_010 {
            var maker = MessageMaker(seed: seed)
            let bytes = maker.message(pair.name, depth: 3)
            for length in 0..<min(bytes.count, 300) {
                let part = Array(bytes.prefix(length))
                #expect(pair.ours(part) == pair.theirs(part), "seed \(seed), \(length) bytes")
            }
        }
    }

    @Test(arguments: OraclePair.all) func `each field has the contract's name`(pair: OraclePair) {
        for field in ProtoSchema.contract.messages[pair.name]! {
            let isOperand = pair.name.hasSuffix(".FieldTransform") && field.number > 2
            let expected = isOperand ? "operand" : field.name.filter { $0 != "_" }
            let found = pair.changes(MessageMaker(seed: 0).sample(field)).map { $0.lowercased() }
            #expect(found == [expected], "\(field.name)")
        }
    }

    @Test func `every message that is generated is compared`() {
        // Documents and values have the model's codecs; two messages have no use.
        let codecs = [
            "Document", "Value", "ArrayValue", "MapValue", "Function", "Pipeline",
            "Pipeline.Stage", "AggregationResult", "ExplainStats",
        ].map { "google.firestore.v1." + $0 }
        let compared = Set(OraclePair.all.map(\.name) + codecs + ["google.type.LatLng"])
        #expect(Set(ProtoSchema.contract.messages.keys) == compared)
    }
}

/// The bounds of messages that a sender chooses.
struct MessageBoundTests {
    private let query = OraclePair(RunQueryRequestMessage.self, PBRunQueryRequest.self)

    private func nested(_ depth: Int) -> [UInt8] {
        var filter: [UInt8] = []
        for level in 0..<depth {
            // A composite filter is field 1 of a filter, and holds filters in field 2.
            let field: UInt64 = level.isMultiple(of: 2) ? 1 : 2
            filter = MessageMaker.tag(field, 2) + MessageMaker.delimited(filter)
        }
        return filter
    }

    @Test func `filters are nested as deeply as protobuf allows`() {
        var accepted: Set<Bool> = []
        for depth in 0..<120 {
            let structured = MessageMaker.tag(3, 2) + MessageMaker.delimited(nested(depth))
            let bytes = MessageMaker.tag(2, 2) + MessageMaker.delimited(structured)
            let ours = query.ours(bytes)
            #expect(ours == query.theirs(bytes), "\(depth)")
            accepted.insert(ours != nil)
        }
        #expect(accepted == [true, false])
    }

    @Test func `groups are nested as deeply as protobuf allows`() {
        for depth in [1, 98, 99, 100, 101, 10_000] {
            let begin = Array(repeating: MessageMaker.tag(100, 3), count: depth).flatMap { $0 }
            let end = Array(repeating: MessageMaker.tag(100, 4), count: depth).flatMap { $0 }
            let ours = query.ours(begin + end)
            #expect(ours == query.theirs(begin + end), "\(depth)")
            #expect((ours != nil) == (depth < 100), "\(depth)")
            #expect(query.ours(begin) == nil && query.ours(end) == nil)
        }
    }

    /// `RequestParts` allows a part for each 16 bytes of a request, so a part's size bounds the
    /// memory that a request takes.
    @Test func `a part takes little memory`() {
        #expect(MemoryLayout<WriteMessage>.stride <= 144)
        #expect(MemoryLayout<FieldTransformMessage>.stride <= 64)
        #expect(MemoryLayout<FilterMessage>.stride <= 112)
        #expect(MemoryLayout<OrderMessage>.stride <= 40)
        #expect(MemoryLayout<MessageBytes>.stride == 16)
    }

    @Test func `bytes of a message are not copied while it is read`() throws {
        let document = [UInt8](repeating: 0, count: 1 << 20)
        let sent = DocumentChangeMessage(document: MessageBytes(document), targetIDs: [1, 300])
        let bytes = sent.wireBytes
        let read = try DocumentChangeMessage(wire: bytes)
        let start = bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        let part = read.document.withBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(part > start && part < start + UInt(bytes.count))
        #expect(read.document.array == document && read.targetIDs == [1, 300])
    }

    @Test func `of two alternatives the last one counts, and the same one is merged`() throws {
        func write(_ parts: WriteMessage...) throws -> WriteMessage {
            try WriteMessage(wire: parts.flatMap(\.wireBytes))
        }
        let delete = WriteMessage(delete: "d")
        let some = WriteMessage(
            transform: DocumentTransformMessage(
                document: "t", fieldTransforms: [FieldTransformMessage(fieldPath: "a")]))
        let more = WriteMessage(
            transform: DocumentTransformMessage(
                fieldTransforms: [FieldTransformMessage(fieldPath: "b")]))
        let merged = try write(delete, some, more)
        #expect(merged.delete == nil && merged.transform?.document == "t")
        #expect(merged.transform?.fieldTransforms.map(\.fieldPath) == ["a", "b"])
        let last = try write(some, delete)
        #expect(last.delete == "d" && last.transform == nil)
    }
}
