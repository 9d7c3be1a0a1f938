import Testing
import TestSupport
import TidemarkModel
import TidemarkStore

@testable import TidemarkSync

/// Random documents, pending writes and queries, with changes between the slices. The result of a
/// read must equal the result of separate filtering and sorting code on the data at the end of the
/// read.
@Suite(.ownThread) struct SlicedReadTests {
    /// A document as a person would write it down.
    private struct Row: Equatable {
        var id: String
        var a: Int64?
        var b: Int64?

        var fields: MapValue {
            var fields = MapValue()
            if let a { fields["a"] = .integer(a) }
            if let b { fields["b"] = .integer(b) }
            return fields
        }
    }

    private struct Model {
        var server: [String: Row] = [:]
        /// The pending writes by id. A deletion has the value nil.
        var pending: [String: Row?] = [:]

        var shown: [Row] {
            let others = server.values.filter { pending[$0.id] == nil }
            return others + pending.values.compactMap { $0 }
        }
    }

    private struct Ask {
        var query = rooms()
        var passes: (Row) -> Bool = { _ in true }
        var isOrdered = false
        var isDescending = false

        func rows(_ model: Model) -> [Row] {
            var rows = model.shown.filter { passes($0) && (!isOrdered || $0.b != nil) }
            rows.sort { x, y in
                let isBefore =
                    isOrdered && x.b != y.b
                    ? x.b! < y.b! : Array(x.id.utf8).lexicographicallyPrecedes(Array(y.id.utf8))
                return isBefore != isDescending
            }
            let rest = rows.dropFirst(query.offset)
            switch query.limit {
            case .first(let count)?: return Array(rest.prefix(count))
            case .last(let count)?: return Array(rest.suffix(count))
            case nil: return Array(rest)
            }
        }
    }

    private func ask(_ dice: inout SeededRandom, isLimited: Bool = true) -> Ask {
        var ask = Ask()
        let value = Int64.random(in: 0..<5, using: &dice)
        switch Int.random(in: 0..<4, using: &dice) {
        case 0:
            ask.query.filter = .field(field("a"), .equal, .integer(value))
            ask.passes = { $0.a == value }
        case 1:
            ask.query.filter = .or([
                .field(field("a"), .equal, .integer(value)),
                .field(field("a"), .equal, .integer(value + 1)),
            ])
            ask.passes = { $0.a == value || $0.a == value + 1 }
        case 2:
            // An inequality on `b` also orders the rows by `b`.
            ask.query.filter = .field(field("b"), .greaterThan, .integer(value))
            ask.passes = { $0.b.map { $0 > value } ?? false }
            ask.isOrdered = true
        default: break
        }
        guard isLimited else { return ask }
        if Bool.random(using: &dice) {
            ask.isOrdered = true
            ask.isDescending = Bool.random(using: &dice)
            ask.query.orders = [Order(field("b"), ask.isDescending ? .descending : .ascending)]
        }
        let count = Int.random(in: 1..<12, using: &dice)
        switch Int.random(in: 0..<3, using: &dice) {
        case 0: ask.query.limit = .first(count)
        case 1 where ask.isOrdered: ask.query.limit = .last(count)
        default: break
        }
        if ask.query.limit.map({ if case .last = $0 { false } else { true } }) ?? true {
            ask.query.offset = Int.random(in: 0..<4, using: &dice)
        }
        return ask
    }

    private func row(_ dice: inout SeededRandom) -> Row {
        func value() -> Int64? {
            let value = Int64.random(in: 0..<6, using: &dice)
            return value == 5 ? nil : value
        }
        return Row(id: "\(Int.random(in: 10..<90, using: &dice))", a: value(), b: value())
    }

    private func change(
        _ dice: inout SeededRandom, _ local: LocalStore, _ model: inout Model, _ time: inout Int64
    ) throws {
        time += 10
        let row = row(&dice)
        let name = path("rooms/\(row.id)")
        switch Int.random(in: 0..<12, using: &dice) {
        case 0, 1:
            _ = try local.queue.enqueue([Mutation(path: name, .set(row.fields))], at: at(time))
            model.pending[row.id] = .some(row)
        case 2:
            _ = try local.queue.enqueue([Mutation(path: name, .delete)], at: at(time))
            model.pending[row.id] = .some(nil)
        case 3, 4:
            _ = try local.remote.apply([.missing(name, at(time))], readTime: at(time))
            model.server[row.id] = nil
        case 5:
            guard let first = local.queue.pending.batches.first?.decoded else { return }
            let reason = RPCStatus(.permissionDenied, "test")
            _ = try local.queue.reject(first, reason, at: at(time))
            let id = first.paths.first!.id
            if !local.queue.pending.hasWrites(path("rooms/\(id)")) { model.pending[id] = nil }
        default:
            let document = Document(
                path: name, fields: row.fields, createTime: at(1), updateTime: at(time))
            _ = try local.remote.apply([.found(document)], readTime: at(time))
            model.server[row.id] = row
        }
    }

    private func filled(
        _ dice: inout SeededRandom, _ time: inout Int64
    ) throws -> (LocalStore, Model) {
        let local = try LocalStore(.memory, database: Harness.database)
        var model = Model()
        for _ in 0..<120 { try change(&dice, local, &model, &time) }
        return (local, model)
    }

    private func finish(
        _ read: any SlicedRead, _ dice: inout SeededRandom, _ local: LocalStore,
        _ model: inout Model, _ time: inout Int64
    ) throws {
        while try !read.step(ScanBudget(rows: Int.random(in: 1..<20, using: &dice))) {
            for _ in 0..<Int.random(in: 0..<4, using: &dice) {
                try change(&dice, local, &model, &time)
            }
        }
    }

    @Test(arguments: UInt64(0)..<40)
    func `rows are those of the end`(seed: UInt64) throws {
        var dice = SeededRandom(seed: seed)
        var time: Int64 = 100
        var (local, model) = try filled(&dice, &time)
        for _ in 0..<25 {
            let ask = ask(&dice)
            if Int.random(in: 0..<4, using: &dice) == 0 {
                try local.documents.declareIndexes(for: [ask.query])
            }
            let read = QueryRead(ask.query, local)
            try finish(read, &dice, local, &model, &time)
            let expected = ask.rows(model)
            #expect(read.rows.map(\.path.id) == expected.map(\.id), "\(ask.query)")
            for (row, wanted) in zip(read.rows, expected) {
                #expect(row.contents.decoded == wanted.fields)
            }
        }
    }

    @Test(arguments: UInt64(0)..<40)
    func `figures are those of the end`(seed: UInt64) throws {
        var dice = SeededRandom(seed: seed)
        var time: Int64 = 100
        var (local, model) = try filled(&dice, &time)
        for round in 0..<25 {
            let asks = (0..<2).map { _ in ask(&dice, isLimited: false) }
            if Int.random(in: 0..<4, using: &dice) == 0 {
                try local.documents.declareIndexes(for: asks.map(\.query))
            }
            let fields = round.isMultiple(of: 2) ? [] : [field("b")]
            let read = FigureRead(asks.map(\.query), fields, local)
            try finish(read, &dice, local, &model, &time)
            for (figures, ask) in zip(read.figures, asks) {
                var rows = ask.rows(model)
                if !fields.isEmpty { rows.removeAll { $0.b == nil } }
                #expect(figures.rows == Int64(rows.count), "\(ask.query)")
                guard !fields.isEmpty else { continue }
                let sum = rows.reduce(0) { $0 + $1.b! }
                #expect(
                    figures.values([Aggregation(alias: "s", .sum(fields[0]))])
                        == ["s": .integer(sum)])
            }
        }
    }
}
