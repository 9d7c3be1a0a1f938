import Foundation
import Testing
import TidemarkModel
import TidemarkServer

@testable import Tidemark

/// Tests that the figures of the server and of the cache cover the same rows, for every limit and
/// cursor.
@Suite(.timeLimit(.minutes(20))) struct `Aggregates of the server and of the cache` {
    private func filled(
        _ rows: [[String: any Sendable]]
    ) async throws -> (server: FirestoreServer, firestore: Firestore) {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let firestore = try Firestore.testing(server)
        let batch = firestore.batch()
        for (index, row) in rows.enumerated() {
            batch.setData(row, forDocument: firestore.document("rows/\(10 + index)"))
        }
        try await batch.commit()
        _ = try await firestore.collection("rows").getDocuments(source: .server)
        return (server, firestore)
    }

    @Test func `a sum with a limit is of the smallest values`() async throws {
        let (server, firestore) = try await filled([["r": 3], ["r": 1], ["r": 2]])
        let one = firestore.collection("rows").limit(to: 1)
        for source in [AggregateSource.server, .cache] {
            let figures = try await one.aggregate([.sum("r"), .count()])
                .getAggregation(source: source)
            #expect(figures.get(.sum("r")) as? Int == 1, "\(source)")
            #expect(figures.count == 1)
        }
        await firestore.terminate()
        server.close()
    }

    @Test func `a sum of the last rows is of a field outside the order too`() async throws {
        let (server, firestore) = try await filled([
            ["r": 3, "s": 1], ["r": 1, "s": 2], ["r": 2, "s": 2],
        ])
        // Two rows have an equal `s`. The one with the larger `r` is last, because the summed field
        // is also an order.
        let last = firestore.collection("rows").order(by: "s").limit(toLast: 1)
        for source in [AggregateSource.server, .cache] {
            let figures = try await last.aggregate([.sum("r"), .count()])
                .getAggregation(source: source)
            #expect(figures.get(.sum("r")) as? Int == 2, "\(source)")
            #expect(figures.count == 1)
        }
        await firestore.terminate()
        server.close()
    }

    /// A row for the test's own calculation.
    private struct Row {
        let id: String
        let values: [String: Value]
    }

    private struct Cut: CustomStringConvertible {
        var orders: [(field: String, descending: Bool)] = []
        var limit: Int?
        var isLast = false
        var start: (value: Int64, isBefore: Bool)?
        /// The end; `isBefore` excludes the rows with this value.
        var end: (value: Int64, isBefore: Bool)?
        /// The row that the query starts after; nil for none.
        var place: Row?
        var atLeast: Int64?
        var figures: [AggregateField] = []
        var summed: [String] = []

        /// Compares by the documented rules: numbers come before texts. Returns nil for equal
        /// values.
        private static func isBefore(_ a: Value, _ b: Value) -> Bool? {
            switch (a, b) {
            case (.integer(let x), .integer(let y)): x == y ? nil : x < y
            case (.integer, .string): true
            case (.string, .integer): false
            default: nil
            }
        }

        var description: String {
            "\(orders) limit \(limit ?? -1) last \(isLast) start \(String(describing: start)) "
                + "end \(String(describing: end)) "
                + "after \(place?.id ?? "none") "
                + "r >= \(atLeast ?? -1) of \(summed)"
        }

        /// True if production has no index for the query. A document's cursor names all orders, the
        /// name last, and a summed field that decides which rows take part cannot follow the name.
        var isRefused: Bool {
            guard limit != nil, place != nil else { return false }
            var ordered = Set(orders.map(\.field))
            if atLeast != nil { ordered.insert("r") }
            return !ordered.isSuperset(of: summed)
        }

        /// Returns the rows that take part, by filtering and sorting.
        func rows(of all: [Row]) -> [Row] {
            if isRefused { return [] }
            var orders = orders
            if atLeast != nil, !orders.contains(where: { $0.field == "r" }) {
                orders.append(("r", orders.last?.descending ?? false))
            }
            let last = orders.last?.descending ?? false
            if limit != nil {
                for field in summed where !orders.contains(where: { $0.field == field }) {
                    orders.append((field, last))
                }
            }
            func precedes(_ a: Row, _ b: Row) -> Bool {
                for order in orders {
                    if let first = Self.isBefore(a.values[order.field]!, b.values[order.field]!) {
                        return first != order.descending
                    }
                }
                return (a.id < b.id) != last
            }
            var rows = all.filter { row in orders.allSatisfy { row.values[$0.field] != nil } }
            if let atLeast {
                rows = rows.filter {
                    if case .integer(let value)? = $0.values["r"] {
                        value >= atLeast
                    } else {
                        false
                    }
                }
            }
            if let start, let order = orders.first {
                rows = rows.filter { row in
                    guard let first = Self.isBefore(row.values[order.field]!, .integer(start.value))
                    else {
                        return start.isBefore
                    }
                    return first == order.descending
                }
            }
            if let end, let order = orders.first {
                rows = rows.filter { row in
                    guard let first = Self.isBefore(row.values[order.field]!, .integer(end.value))
                    else {
                        return !end.isBefore
                    }
                    return first != order.descending
                }
            }
            if let place { rows = rows.filter { $0.id != place.id && precedes(place, $0) } }
            rows.sort(by: precedes)
            if let limit { rows = Array(isLast ? rows.suffix(limit) : rows.prefix(limit)) }
            return rows.filter { row in summed.allSatisfy { row.values[$0] != nil } }
        }
    }

    @Test func `every figure, order, limit and cursor gives the same on both`() async throws {
        var dice = SeededRandom(seed: 45)
        var (compared, lasts) = (0, 0)
        for _ in 0..<4 {
            var rows: [Row] = []
            for index in 0..<12 {
                var values: [String: Value] = [:]
                for field in ["r", "s"] {
                    switch dice.roll(8) {
                    case 0: break
                    case 1: values[field] = .string("x")
                    default: values[field] = .integer(Int64(dice.roll(6)))
                    }
                }
                rows.append(Row(id: "\(10 + index)", values: values))
            }
            let (server, firestore) = try await filled(
                rows.map { row in
                    row.values.mapValues { value -> any Sendable in
                        if case .integer(let number) = value { return Int(number) }
                        return "x"
                    }
                })
            for _ in 0..<120 {
                let cut = Self.cut(&dice, rows)
                var query: Tidemark.Query = firestore.collection("rows")
                if let atLeast = cut.atLeast {
                    query = query.whereField("r", isGreaterThanOrEqualTo: Int(atLeast))
                }
                for order in cut.orders {
                    query = query.order(by: order.field, descending: order.descending)
                }
                if let place = cut.place {
                    let document = try await firestore.document("rows/\(place.id)").getDocument()
                    query = query.start(afterDocument: document)
                }
                if let limit = cut.limit {
                    query = cut.isLast ? query.limit(toLast: limit) : query.limit(to: limit)
                }
                if let start = cut.start {
                    let value = [Int(start.value)]
                    query = start.isBefore ? query.start(at: value) : query.start(after: value)
                }
                if let end = cut.end {
                    let value = [Int(end.value)]
                    query = end.isBefore ? query.end(before: value) : query.end(at: value)
                }
                let taking = cut.rows(of: rows)
                var answers: [[String]] = []
                var refusals: [FirestoreErrorCode] = []
                for source in [AggregateSource.server, .cache] {
                    let figures: AggregateQuerySnapshot
                    do throws(FirestoreError) {
                        figures = try await query.aggregate(cut.figures)
                            .getAggregation(source: source)
                    } catch {
                        refusals.append(error.code)
                        continue
                    }
                    var answer = ["\(figures.count)"]
                    for field in cut.summed {
                        answer.append("\(figures.get(.sum(field)) ?? "nil")")
                        answer.append("\(figures.get(.average(field)) ?? "nil")")
                    }
                    answers.append(answer)
                }
                compared += 1
                #expect(
                    refusals == (cut.isRefused ? [.invalidArgument, .invalidArgument] : []),
                    "\(cut)")
                if cut.isRefused { continue }
                if cut.isLast, !cut.summed.isEmpty { lasts += 1 }
                var expected = ["\(taking.count)"]
                for field in cut.summed {
                    let numbers = taking.compactMap { row -> Int64? in
                        if case .integer(let number)? = row.values[field] { number } else { nil }
                    }
                    let sum = numbers.reduce(0, +)
                    expected.append("\(sum)")
                    expected.append(
                        numbers.isEmpty
                            ? answers[0][expected.count]
                            : "\(Double(sum) / Double(numbers.count))")
                }
                for answer in answers { #expect(answer == expected, "\(cut)") }
            }
            await firestore.terminate()
            server.close()
        }
        #expect(compared == 480)
        #expect(lasts > 20, "few sums of the last rows")
    }

    private static func cut(_ dice: inout SeededRandom, _ rows: [Row]) -> Cut {
        var cut = Cut()
        let fields = dice.pick([[], ["r"], ["s"], ["r", "s"], ["s", "r"]])
        cut.orders = fields.map { ($0, dice.chance(40)) }
        if dice.chance(75) { cut.limit = 1 + dice.roll(6) }
        if cut.limit != nil, !fields.isEmpty, dice.chance(30) { cut.isLast = true }
        if !fields.isEmpty, dice.chance(40) {
            cut.start = (Int64(dice.roll(6)), dice.chance(50))
        }
        if !fields.isEmpty, dice.chance(40) {
            cut.end = (Int64(dice.roll(6)), dice.chance(50))
        }
        if fields.first != "s", dice.chance(30) { cut.atLeast = Int64(dice.roll(5)) }
        if cut.start == nil, dice.chance(25) {
            // Only a row that has the fields of all orders has a place among the rows.
            let fields = Set(fields).union(cut.atLeast == nil ? [] : ["r"])
            cut.place = dice.pick(
                rows.filter { row in fields.allSatisfy { row.values[$0] != nil } })
        }
        cut.summed = dice.pick([[], ["r"], ["s"], ["r", "s"]])
        cut.figures = [.count()]
        for field in cut.summed { cut.figures += [.sum(field), .average(field)] }
        return cut
    }
}

extension SeededRandom {
    fileprivate mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }
    fileprivate mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }
    fileprivate mutating func pick<T>(_ values: [T]) -> T { values[roll(values.count)] }
}
