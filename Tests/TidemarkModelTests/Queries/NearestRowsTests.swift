import Testing
import TidemarkModel

struct NearestRowsTests {
    private func search(
        _ vector: [Double], _ measure: FindNearest.DistanceMeasure, limit: Int = 10,
        threshold: Double? = nil
    ) -> FindNearest {
        FindNearest(
            field: FieldPath(unchecked: ["v"]), vector: vector, measure: measure, limit: limit,
            distanceField: FieldPath(unchecked: ["d"]), threshold: threshold)
    }

    private func document(_ id: String, _ value: Value?) -> Document {
        let time = Timestamp(microseconds: 1)
        return Document(
            path: DocumentPath(unchecked: "c/" + id), fields: value.map { ["v": $0] } ?? [:],
            createTime: time, updateTime: time)
    }

    private func rows(
        _ search: FindNearest, _ vectors: [(String, [Double])]
    ) throws -> [(String, Double)] {
        var nearest = NearestRows(search)
        for (id, vector) in vectors {
            try nearest.add(document(id, .vector(VectorValue(vector))))
        }
        return try nearest.documents.map { row in
            guard case .double(let distance)? = row.fields["d"] else {
                throw RPCStatus(.internal, "no distance")
            }
            return (row.path.id, distance)
        }
    }

    @Test func `the cosine distance is one less the cosine`() throws {
        let found = try rows(
            search([1, 2, 3], .cosine),
            [("a", [3, 4, 5]), ("b", [1, 2, 3]), ("c", [-1, -2, -3])])
        #expect(found.map(\.0) == ["b", "a", "c"])
        // Source: server-protocol 1.6.
        #expect(found.map(\.1) == [0, 0.017292370176009153, 2])
    }

    @Test func `the euclidean distance and the dot product`() throws {
        let vectors = [("a", [3.0, 4]), ("b", [0.0, 1]), ("c", [0.0, 0])]
        let far = try rows(search([0, 0], .euclidean), vectors)
        #expect(far.map(\.0) == ["c", "b", "a"])
        #expect(far.map(\.1) == [0, 1, 5])
        let large = try rows(search([2, 1], .dotProduct), vectors)
        #expect(large.map(\.0) == ["a", "b", "c"])
        #expect(large.map(\.1) == [10, 1, 0])
    }

    @Test func `the threshold is the farthest, or the least product`() throws {
        let vectors = [("a", [3.0, 4]), ("b", [0.0, 1]), ("c", [0.0, 0])]
        #expect(
            try rows(search([0, 0], .euclidean, threshold: 1), vectors).map(\.0) == ["c", "b"])
        #expect(
            try rows(search([2, 1], .dotProduct, threshold: 1), vectors).map(\.0) == ["a", "b"])
    }

    @Test func `what is no vector of that dimension drops out`() throws {
        var nearest = NearestRows(search([1, 2], .euclidean))
        try nearest.add(document("none", nil))
        try nearest.add(document("array", .array([.double(1), .double(2)])))
        try nearest.add(document("three", .vector(VectorValue([1, 2, 3]))))
        try nearest.add(document("two", .vector(VectorValue([1, 2]))))
        #expect(nearest.documents.map(\.path.id) == ["two"])
        #expect(nearest.entries == 1)
    }

    @Test func `a vector of length zero has no cosine`() throws {
        let zero = RPCStatus(
            .failedPrecondition,
            "Cannot compute cosine distance against a vector with a magnitude of zero.",
            details: [
                .errorInfo(
                    reason: "COSINE_DISTANCE_ON_ZERO_VECTOR", domain: "firestore.googleapis.com",
                    metadata: [:])
            ])
        #expect(throws: zero) { try rows(search([1, 2], .cosine), [("a", [0, 0])]) }
        #expect(throws: zero) {
            var query = Query(collectionID: "c")
            query.findNearest = search([0, -0.0], .cosine)
            try query.validate()
        }
        #expect(try rows(search([1, 2], .euclidean), [("a", [0, 0])]).count == 1)
    }

    @Test func `cosines of very long and very short vectors are still right`() throws {
        let found = try rows(
            search([1e200, 0], .cosine),
            [("same", [1e300, 0]), ("across", [0, 1e-300]), ("half", [1e-200, 1e-200])])
        #expect(found.map(\.0) == ["same", "half", "across"])
        #expect(found[0].1 == 0 && found[2].1 == 1)
        #expect(abs(found[1].1 - (1 - 0.5.squareRoot())) < 1e-15)
        // A vector with an infinite component has no direction, so it is no row.
        #expect(try rows(search([1, 1], .cosine), [("a", [.infinity, 1])]).isEmpty)
    }

    @Test(arguments: UInt64(0)..<100)
    func `the heap keeps what sorting everything would keep`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        // There are few different numbers, so many distances are equal.
        let vectors = (0..<60).map { row in
            (
                String(row * 7 % 60),
                (0..<2).map { _ in Double(Int.random(in: 0...3, using: &random)) }
            )
        }
        let measure = FindNearest.DistanceMeasure.allCases[Int(seed % 3)]
        let wanted = search([1, 2], measure, limit: Int(1 + seed % 70))
        let possible = measure == .cosine ? vectors.filter { $0.1 != [0, 0] } : vectors
        let sorted = try possible.map { ($0.0, try wanted.distance(to: $0.1)!) }.sorted { a, b in
            if a.1 != b.1 { return measure == .dotProduct ? a.1 > b.1 : a.1 < b.1 }
            return a.0 < b.0
        }
        let found = try rows(wanted, possible)
        #expect(found.map(\.0) == sorted.prefix(wanted.limit).map(\.0), "seed \(seed)")
        #expect(found.map(\.1) == sorted.prefix(wanted.limit).map(\.1), "seed \(seed)")
    }
}
