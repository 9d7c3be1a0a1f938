import Testing
import TidemarkModel

@testable import TidemarkStore

/// Compares figures over random histories with separate code that counts and adds all rows.
struct FigureTests {
    /// The expected contents of the store, and the figures of these contents.
    private struct Model {
        var rooms: [String: MapValue] = [:]

        /// Returns the count and, if `isSummed`, the sum of the rows that pass, as a text.
        func figures(_ isSummed: Bool, _ passes: (MapValue) -> Bool) -> String {
            var (count, integers, doubles) = (0, Int128(0), 0.0)
            var (hasDoubles, numbers) = (false, 0)
            for row in rooms.values where passes(row) {
                guard isSummed else {
                    count += 1
                    continue
                }
                guard let value = row["n"] else { continue }
                count += 1
                switch value {
                case .integer(let value): integers += Int128(value)
                case .double(let value):
                    // The doubles are quarters, NaN or infinities, so their sum is exact in any
                    // order.
                    doubles += value
                    hasDoubles = true
                default: continue
                }
                numbers += 1
            }
            if !isSummed { return "\(count)" }
            let total = Double(integers) + doubles
            let sum = total.isNaN ? "nan" : hasDoubles ? "\(total)" : "\(integers)"
            return "\(count) \(sum) \(numbers)"
        }
    }

    private func text(_ figures: Figures) -> String {
        guard let field = figures.fields.first else { return "\(figures.rows)" }
        let values = figures.values([
            Aggregation(alias: "s", .sum(field)), Aggregation(alias: "m", .average(field)),
        ])
        let sum: String
        var total = 0.0
        switch values["s"] {
        case .integer(let value)?: (sum, total) = ("\(value)", Double(value))
        case .double(let value)?: (sum, total) = ("\(value)", value)
        default: (sum, total) = ("nothing", 0)
        }
        guard case .double(let mean)? = values["m"] else { return "\(figures.rows) \(sum) 0" }
        if !total.isFinite || total == 0 { return "\(figures.rows) \(sum) -" }
        return "\(figures.rows) \(sum) \(Int((total / mean).rounded()))"
    }

    /// Some answers do not reveal the number of summed values. Then only the rest is compared.
    private func expect(
        _ figures: Figures, _ expected: String, _ comment: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var (found, wanted) = (text(figures), expected)
        if found.hasSuffix(" -") {
            found.removeLast(2)
            wanted = wanted.split(separator: " ").prefix(2).joined(separator: " ")
        }
        #expect(found == wanted, "\(comment)", sourceLocation: sourceLocation)
    }

    private func number(_ dice: inout Dice) -> Value? {
        // NaN and infinities are rare, so usually no row has one, but one may have been removed.
        if dice.roll(900) == 0 { return .double(dice.pick([.nan, .infinity, -.infinity])) }
        return switch dice.roll(20) {
        case 0: nil
        case 1: .string("no number")
        case 3, 4, 5: .double(Double(dice.roll(4_000) - 2_000) / 4)
        case 6: .integer(dice.pick([1 << 40, -(1 << 40)]))
        default: .integer(Int64(dice.roll(1_000)))
        }
    }

    private func change(_ dice: inout Dice, _ table: DocumentTable, _ model: inout Model) throws {
        let name = "\(dice.roll(900))"
        let path = DocumentPath(unchecked: "rooms/\(name)")
        switch dice.roll(10) {
        case 0, 1:
            try table.remove(path)
            model.rooms[name] = nil
        case 2:
            try table.put(missing(path.text))
            model.rooms[name] = nil
        default:
            var fields: MapValue = [
                "k": .integer(Int64(dice.roll(3))), "r": .integer(Int64(dice.roll(1_000))),
            ]
            if let number = number(&dice) { fields["n"] = number }
            try table.put(found(path.text, fields, at: Int64(dice.roll(1_000))))
            model.rooms[name] = fields
        }
    }

    private struct Ask {
        let query: Query
        let passes: (MapValue) -> Bool
    }

    private func ask(_ dice: inout Dice) -> Ask {
        var query = Query(collectionID: "rooms")
        let (low, high) = (Int64(dice.roll(1_000)), Int64(dice.roll(1_000)))
        let (k, r) = (FieldPath(name: "k"), FieldPath(name: "r"))
        let same = Int64(dice.roll(4))
        func integer(_ row: MapValue, _ name: String) -> Int64 {
            if case .integer(let value)? = row[name] { value } else { .min }
        }
        switch dice.roll(4) {
        case 0: return Ask(query: query) { _ in true }
        case 1:
            query.filter = .field(k, .equal, .integer(same))
            return Ask(query: query) { integer($0, "k") == same }
        case 2:
            query.filter = .and([
                .field(r, .greaterThan, .integer(low)), .field(r, .lessThanOrEqual, .integer(high)),
            ])
            return Ask(query: query) { integer($0, "r") > low && integer($0, "r") <= high }
        default:
            query.filter = .or([
                .field(k, .equal, .integer(same)), .field(r, .lessThan, .integer(high)),
            ])
            return Ask(query: query) { integer($0, "k") == same || integer($0, "r") < high }
        }
    }

    private struct Lost: Error {}

    private func filled(
        _ dice: inout Dice, isIndexed: Bool
    ) throws -> (DocumentStore, Model) {
        let store = try DocumentStore(.memory, indexBuilding: .onRequest)
        var model = Model()
        try store.write { transaction in
            let table = transaction.documents(of: testDatabase)
            for _ in 0..<1_500 { try change(&dice, table, &model) }
            guard isIndexed else { return }
            for name in ["k", "r"] {
                try table.declareIndex(
                    IndexDefinition(
                        collectionID: "rooms", fields: [.init(FieldPath(name: name))]))
            }
        }
        return (store, model)
    }

    @Test(arguments: UInt64(0)..<6)
    func `blocks say what all rows come to, through any history`(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        var (store, model) = try filled(&dice, isIndexed: true)
        let fields = [[], [FieldPath(name: "n")]]
        var known = 0
        for _ in 0..<400 {
            let before = model
            let fails = dice.chance(3)
            do {
                try store.write { transaction in
                    let table = transaction.documents(of: testDatabase)
                    for _ in 0..<(1 + dice.roll(4)) { try change(&dice, table, &model) }
                    if fails { throw Lost() }
                }
            } catch { model = before }
            let (ask, summed) = (ask(&dice), dice.roll(2))
            try store.read { transaction in
                let table = transaction.documents(of: testDatabase)
                table.connection.figures.wish(
                    FigureWish(database: testDatabase, query: ask.query, fields: fields[summed]))
                guard let figures = try table.knownFigures(ask.query, fields[summed]) else {
                    return
                }
                known += 1
                expect(figures, model.figures(summed == 1, ask.passes), "\(ask.query)")
            }
            // A small slice leaves some blocks incomplete, and the next changes find them so.
            _ = try store.buildWantedIndexes(slice: 1 + dice.roll(700))
        }
        #expect(known > 100)
    }

    @Test(arguments: UInt64(0)..<6, [false, true])
    func `a scan's figures are those of its end`(seed: UInt64, isIndexed: Bool) throws {
        var dice = Dice(seed: seed)
        var (store, model) = try filled(&dice, isIndexed: isIndexed)
        for round in 0..<30 {
            let ask = ask(&dice)
            let fields = round.isMultiple(of: 2) ? [] : [FieldPath(name: "n")]
            let scan = try store.read {
                try $0.documents(of: testDatabase).scan(ask.query, for: fields)
            }
            while try !store.read({
                try $0.documents(of: testDatabase).step(scan, ScanBudget(rows: 1 + dice.roll(300)))
            }) {
                try store.write { try change(&dice, $0.documents(of: testDatabase), &model) }
            }
            var figures = scan.figures
            for path in scan.touched {
                guard let row = model.rooms[path.id], ask.passes(row) else { continue }
                figures.add(EncodedFields(row))
            }
            expect(figures, model.figures(!fields.isEmpty, ask.passes), "\(ask.query)")
        }
    }

    /// The store never has idle time, so it makes no blocks.
    @Test(arguments: UInt64(0)..<6, [false, true])
    func `what a scan has found stays true, through any history`(
        seed: UInt64, isIndexed: Bool
    ) throws {
        var dice = Dice(seed: seed)
        var (store, model) = try filled(&dice, isIndexed: isIndexed)
        var known = 0
        for round in 0..<60 {
            let ask = round.isMultiple(of: 3) ? Ask(query: rooms) { _ in true } : ask(&dice)
            let fields = dice.chance(50) ? [] : [FieldPath(name: "n")]
            let scan = try store.read {
                try $0.documents(of: testDatabase).scan(ask.query, for: fields)
            }
            // The last step and the end of the scan are in one transaction.
            while try !store.read({
                let table = $0.documents(of: testDatabase)
                let isAtEnd = try table.step(scan, ScanBudget(rows: 1 + dice.roll(300)))
                if isAtEnd { try table.end(scan) }
                return isAtEnd
            }) {
                try store.write { try change(&dice, $0.documents(of: testDatabase), &model) }
            }
            for _ in 0..<dice.roll(4) {
                let before = model
                let fails = dice.chance(5)
                do {
                    try store.write { transaction in
                        let table = transaction.documents(of: testDatabase)
                        for _ in 0..<(1 + dice.roll(30)) { try change(&dice, table, &model) }
                        if fails { throw Lost() }
                    }
                } catch { model = before }
                try store.read { transaction in
                    let table = transaction.documents(of: testDatabase)
                    guard let figures = try table.knownFigures(ask.query, fields) else { return }
                    known += 1
                    expect(figures, model.figures(!fields.isEmpty, ask.passes), "\(ask.query)")
                }
            }
        }
        #expect(known > 10)
    }

    private let rooms = Query(collectionID: "rooms")

    @Test func `blocks stay few, and a range is whole blocks and two ends`() {
        let blocks = FigureBlocks(.names(collection: 1), [], size: 4, most: 16)
        func key(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }
        for number in 0..<2_000 {
            key(number).withUnsafeBytes { blocks.append($0, nil) }
        }
        blocks.haveFilledAll()
        #expect(blocks.count <= 16)
        for (low, high) in [(0, 2_000), (3, 1_999), (700, 701), (511, 1_024), (5, 5), (9, 3)] {
            let range = KeyRange(lower: key(low), upper: key(high))
            let (whole, rest) = blocks.figures(of: range)
            let left = rest.reduce(0) { sum, part in
                sum + (0..<2_000).count { part.contains(key($0)) }
            }
            #expect(whole.rows + Int64(left) == Int64(max(0, high - low)))
            #expect(left <= 2 * 2_000 / 8)
        }
        #expect(blocks.figures(of: .all).whole.rows == 2_000)
        #expect(blocks.figures(of: .all).rest.isEmpty)
    }

    @Test func `what is appended makes new blocks, what piles up in one is given up`() {
        let blocks = FigureBlocks(.names(collection: 1), [], size: 4, most: 1_000)
        blocks.haveFilledAll()
        for number in 0..<400 { blocks.add([UInt8(number / 256), UInt8(number % 256)], .empty) }
        #expect(blocks.count == 100 && !blocks.isUneven)
        for number in 0..<40 { blocks.add([0, 5, UInt8(number)], .empty) }
        #expect(blocks.isUneven)
    }
}
