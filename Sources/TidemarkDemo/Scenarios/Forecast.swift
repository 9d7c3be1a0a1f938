import Tidemark
import TidemarkApp
import TidemarkModel

/// The bill of a use on Tidemark, as it is planned before the use. The changes of others are its
/// input, because a device cannot know them.
struct Forecast: Sendable {
    /// A planned request, or a change that a listener will receive.
    struct Item: Sendable {
        let text: String
        let bill: PlannedBill
    }

    private(set) var items: [Item] = []

    /// The sum of all items.
    var bill: PlannedBill { items.reduce(into: PlannedBill()) { $0 += $1.bill } }

    mutating func add(_ text: String, _ bill: PlannedBill) {
        items.append(Item(text: text, bill: bill))
    }

    /// Adds the changes of documents that an open listener receives.
    mutating func addUpdates(_ text: String, of rows: [ExpectedRow]) {
        let bill = rows.reduce(into: PlannedBill()) { $0 += .update(bytes: $1.documentBytes) }
        add("\(text): \(rows.count)", bill)
    }

    /// Adds the requests of a feed that begins to listen.
    ///
    /// - Parameters:
    ///   - changed: The documents that have changed since the last read.
    ///   - newest: The items of the server, newest first.
    /// - Throws: ``Unforeseen`` if the feed cannot foresee its requests.
    mutating func add(
        _ feed: Feed, changed: [ExpectedRow], newest: [ExpectedRow] = []
    ) async throws {
        try await feed.open()
        let reads = await feed.readsToListen(changes: changed.count, items: newest.count)
        for read in reads ?? [] {
            let rows = read.plan.since == nil && read.plan.kind == .full ? newest : changed
            guard read.plan.kind == .marks || rows.count >= read.rows,
                let bill = read.plan.bill(of: Array(rows.prefix(read.rows)))
            else { throw Unforeseen("a \(read.plan.kind) of \(read.rows) rows: \(rows.count)") }
            add("\(read.plan.kind.text): \(read.rows)", bill)
        }
        if reads == nil {
            throw Unforeseen("\(await feed.plan.kind), \(changed.count) changes")
        }
    }

    /// Adds a sync of a feed that does not listen.
    ///
    /// - Throws: ``Unforeseen`` if the sync has more than one request.
    mutating func add(sync feed: Feed, changed: [ExpectedRow]) async throws {
        try await feed.open()
        let plan = await feed.plan
        guard plan.kind == .delta, plan.prediction.rowsIfUnchanged == 0,
            changed.count < plan.pageSize, let bill = plan.bill(of: changed)
        else { throw Unforeseen("\(plan.kind), \(changed.count) changes") }
        add("\(plan.kind.text): \(changed.count)", bill)
    }

    /// Adds a query in the order of names, which reads the documents themselves.
    mutating func addScan(_ text: String, of rows: [ExpectedRow]) {
        let bytes = rows.reduce(0) { $0 + $1.documentBytes }
        let units = BilledUnits(read: UnitBilling.scan(bytes: bytes))
        add("\(text): \(rows.count)", PlannedBill(reads: max(1, rows.count), units: units))
    }

    struct PlanHasReads: Error, CustomStringConvertible {
        let description = "A prediction has cost reads."
    }

    struct Unforeseen: Error, CustomStringConvertible {
        let description: String

        /// - Parameter plan: The request that depends on more than the number of changes.
        init(_ plan: String) {
            description = "the feed's requests depend on more than the changes (\(plan))"
        }
    }
}

extension ReadPlan.Kind {
    /// The request in words.
    fileprivate var text: String {
        switch self {
        case .marks: "marks"
        case .count: "count of changes"
        case .full, .page: "items"
        case .delta: "changes"
        case .resume: "resumed listener"
        case .audit: "audit"
        }
    }
}

extension Forecast: Encodable {
    private enum Key: String, CodingKey {
        case reads, units, requests
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(bill.reads, forKey: .reads)
        try container.encode(bill.units, forKey: .units)
        try container.encode(items.map(\.text), forKey: .requests)
    }
}

extension Forecast {
    /// Returns the number of billed reads or units, as a text.
    static func text(_ bill: PlannedBill, in edition: DatabaseEdition) -> String {
        switch edition {
        case .standard: bill.reads == 1 ? "1 read" : "\(grouped(bill.reads)) reads"
        case .enterprise:
            "\(grouped(bill.units.read)) read units, \(grouped(bill.units.realtimeUpdate)) update "
                + "units"
        }
    }

    /// Returns the complaint about a bill that differs from the forecast; nil if they are equal.
    func complaint(_ billed: PlannedBill, in edition: DatabaseEdition) -> String? {
        let isEqual =
            edition == .standard ? bill.reads == billed.reads : bill.units == billed.units
        if isEqual { return nil }
        let parts = items.map { "\($0.text) (\(Self.text($0.bill, in: edition)))" }
        return """
            predicted \(Self.text(bill, in: edition)), but billed \
            \(Self.text(billed, in: edition)): \(parts.joined(separator: ", "))
            """
    }
}
