import Testing
import TestSupport
import Tidemark
import TidemarkLivePipelines
import TidemarkTesting

/// Compares random queries on the cache with their pipelines, with pending writes.
@Suite(.ownThread) struct `Queries and their pipelines` {
    private struct Dice {
        var random: SeededRandom

        mutating func number(_ range: ClosedRange<Int>) -> Int {
            Int.random(in: range, using: &random)
        }

        mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

        mutating func fields() -> [String: Any] {
            var fields: [String: Any] = [:]
            if chance(85) { fields["n"] = number(-3...6) }
            if chance(30) { fields["n"] = Double(number(-6...12)) / 2 }
            if chance(80) { fields["s"] = ["a", "b", "ab", ""][number(0...3)] }
            if chance(70) { fields["l"] = (0..<number(0...3)).map { _ in number(0...3) } }
            return fields
        }

        mutating func query(_ all: Query) -> Query {
            var query = all
            for _ in 0..<number(0...2) { query = condition(query) }
            let isOrdered = chance(60)
            let isDescending = chance(50)
            if isOrdered { query = query.order(by: "n", descending: isDescending) }
            if isOrdered, chance(30) { query = query.order(by: "s") }
            if isOrdered, chance(30) { query = query.start(at: [number(-2...4)]) }
            if isOrdered, chance(20) { query = query.end(before: [number(-2...6)]) }
            if chance(50) {
                query =
                    isOrdered && chance(30)
                    ? query.limit(toLast: number(1...6)) : query.limit(to: number(1...6))
            }
            return query
        }

        mutating func condition(_ query: Query) -> Query {
            let n = number(-2...5)
            switch number(0...6) {
            case 0: return query.whereField("n", isEqualTo: n)
            case 1: return query.whereField("n", isGreaterThan: n)
            case 2: return query.whereField("n", isLessThanOrEqualTo: n)
            case 3: return query.whereField("s", isEqualTo: ["a", "b"][number(0...1)])
            case 4: return query.whereField("l", arrayContains: number(0...3))
            case 5: return query.whereField("n", in: [n, n + 1, 9])
            default:
                return query.whereFilter(
                    .orFilter([
                        .whereField("n", isEqualTo: n), .whereField("s", isEqualTo: "ab"),
                    ]))
            }
        }
    }

    private static func number(_ value: Any?) -> Double? {
        value as? Double ?? (value as? Int64).map { Double($0) }
            ?? (value as? Int).map { Double($0) }
    }

    private static func key(_ text: Any?) -> String { (text as? String).map { "=" + $0 } ?? "none" }

    /// Returns the rows, the numbers and their sum, by text.
    private static func figures(of documents: [QueryDocumentSnapshot]) -> [String: [Double]] {
        var figures: [String: [Double]] = [:]
        for document in documents {
            let n = number(document.get("n"))
            let old = figures[key(document.get("s"))] ?? [0, 0, 0]
            figures[key(document.get("s"))] = [
                old[0] + 1, old[1] + (n == nil ? 0 : 1), old[2] + (n ?? 0),
            ]
        }
        return figures
    }

    /// Counts and sums by own code, over the documents that a query finds.
    @Test func `group the rows of the query`() async throws {
        let devices = try Devices()
        var dice = Dice(random: SeededRandom(seed: 11))
        try await fill(devices, &dice)
        var groups = 0
        for round in 0..<300 {
            var query: Query = devices.device.collection("c")
            for _ in 0..<dice.number(0...2) { query = dice.condition(query) }
            guard let documents = try? await query.getDocuments(source: .cache).documents else {
                continue
            }
            let found = try await query.pipeline().aggregate(
                [
                    CountAll().as("rows"), Field("n").count().as("numbers"),
                    Field("n").sum().as("sum"),
                ], groups: [Field("s")]
            ).execute(source: .cache)
            let rows = found.results.map { row in
                (
                    Self.key(row.get("s")),
                    ["rows", "numbers", "sum"].map { Self.number(row.get($0)) ?? .nan }
                )
            }
            let value = try query.value.get()
            try #require(
                Dictionary(uniqueKeysWithValues: rows) == Self.figures(of: documents),
                "round \(round): \(value)")
            groups += rows.count
        }
        #expect(groups > 500)
        await devices.local.stop()
    }

    /// Stores documents of the server, some of which have pending writes.
    private func fill(_ devices: Devices, _ dice: inout Dice) async throws {
        for id in 0..<40 {
            try await devices.other.document("c/d\(id)").setData(dice.fields())
        }
        let device = devices.device
        _ = try await device.collection("c").getDocuments()
        await device.disableNetwork()
        for id in 30..<50 {
            let document = device.document("c/d\(id)")
            if dice.chance(25) {
                _ = try await document.enqueueDelete()
            } else {
                _ = try await document.enqueueSetData(dice.fields())
            }
        }
    }

    /// A cursor compares values of one type in a pipeline, and all types in a query.
    @Test func `have the same rows in the same order`() async throws {
        let devices = try Devices()
        let device = devices.device
        var dice = Dice(random: SeededRandom(seed: 7))
        try await fill(devices, &dice)
        var rows = 0
        var refused = 0
        for round in 0..<1_000 {
            let query = dice.query(device.collection("c"))
            // A query may have one array-contains, a pipeline any number.
            guard let wanted = try? await query.getDocuments(source: .cache).documents else {
                refused += 1
                continue
            }
            let found = try await query.pipeline().execute(source: .cache)
            let value = try query.value.get()
            try #require(
                found.results.compactMap(\.id) == wanted.map(\.documentID),
                "round \(round): \(value)")
            rows += wanted.count
        }
        #expect(rows > 2_000 && refused < 100)
        await devices.local.stop()
    }
}
