import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

/// Batches that were read from the disk and are not decoded yet.
struct WaitingBatchTests {
    private static let mutations: [Mutation] = [
        set(
            "rooms/a",
            [
                "text": .string("é"), "list": .array([.integer(-1), .double(.nan), .null]),
                "map": .map(["time": .timestamp(at(7)), "bytes": .bytes([0, 1])]),
                "point": .geoPoint(GeoPoint(latitude: 1, longitude: 2)),
                "room": .reference(
                    ReferenceValue(database: Harness.database, path: path("rooms/b"))),
            ]),
        Mutation(
            path: path("rooms/b"), .patch(["n": .integer(1)], mask: [field("n"), field("m.k")]),
            transforms: [
                FieldTransform(field("count"), .increment(.integer(2))),
                FieldTransform(field("tags"), .arrayUnion([.string("x")])),
            ], precondition: .exists(true)),
        Mutation(path: path("rooms/a"), .delete, precondition: .updateTime(at(3))),
        Mutation(path: path("rooms/c"), .verify, precondition: .exists(false)),
    ]

    private func read(_ base: [UInt8], _ mutations: [UInt8]) throws -> WaitingBatch {
        try base.withUnsafeBufferPointer { base in
            try mutations.withUnsafeBufferPointer { mutations in
                try WaitingBatch(
                    id: 5, localWriteTime: at(1), encodedBase: base, encoded: mutations,
                    turn: .isBehind)
            }
        }
    }

    @Test func `a batch from the disk knows its documents, and is decoded on demand`() throws {
        let whole = MutationBatch(
            id: 5, localWriteTime: at(1), baseMutations: [Self.mutations[1]],
            mutations: Self.mutations)
        var batch = try read(
            MutationCodec.encode(whole.baseMutations), MutationCodec.encode(whole.mutations))
        #expect(Array(batch.paths) == ["rooms/a", "rooms/b", "rooms/c"].map(path))
        #expect(batch.paths == whole.paths && batch.isHeld)
        #expect(batch.decoded == whole && batch.mutations == whole.mutations)
        let stored = batch.encoded
        #expect(batch.decode() == whole && batch.decoded == whole)
        #expect(batch.encoded == stored, "it is saved in the same form")
    }

    @Test func `bytes that cannot be decoded are found without decoding`() throws {
        let bytes = MutationCodec.encode(Self.mutations)
        let nothing = MutationCodec.encode([])
        #expect(throws: DamagedRecord.self, "no mutation") { try read(nothing, nothing) }
        var random = SeededRandom(seed: 50)
        var (readable, damaged) = (0, 0)
        for _ in 0..<20_000 {
            var other = bytes
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: other[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: other.removeSubrange(index...)
            default: other.insert(.random(in: 0...255, using: &random), at: index)
            }
            let decoded = (try? MutationCodec.decode(other)).flatMap { $0.isEmpty ? nil : $0 }
            let batch = try? read(nothing, other)
            #expect((batch == nil) == (decoded == nil), "\(other)")
            #expect((try? read(other, bytes)) == nil || decoded != nil, "the base is checked")
            if let batch, let decoded {
                readable += 1
                // A number that is not a number differs from itself, so the bytes are compared.
                #expect(batch.encoded.mutations == other)
                #expect(
                    MutationCodec.encode(batch.mutations) == MutationCodec.encode(decoded))
                #expect(Array(batch.paths) == Array(WaitingBatch.Paths(of: decoded)))
            } else {
                damaged += 1
            }
        }
        #expect(readable > 1_000 && damaged > 1_000)
    }
}
