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
        /// The reason why the request may not be sent; nil for one that is sent.
        var doubt: String?
    }

    private(set) var items: [Item] = []

    /// The sum of all items that are certain.
    var bill: PlannedBill { sum { $0.doubt == nil } }
    /// The sum of all items.
    var most: PlannedBill { sum { _ in true } }
    /// The reasons why the bill cannot be known exactly; empty for an exact prediction.
    var doubts: [String] { Set(items.compactMap(\.doubt)).sorted() }

    private func sum(_ isCounted: (Item) -> Bool) -> PlannedBill {
        items.reduce(into: PlannedBill()) { if isCounted($1) { $0 += $1.bill } }
    }

    mutating func add(_ text: String, _ bill: PlannedBill) {
        items.append(Item(text: text, bill: bill))
    }

    /// Adds all requests of another forecast.
    mutating func add(_ other: Forecast) { items += other.items }

    /// Adds a request that may not be sent, or may cost less.
    ///
    /// - Parameter doubt: The reason, as part of a sentence after "because".
    mutating func addAtMost(_ text: String, _ bill: PlannedBill, because doubt: String) {
        items.append(Item(text: text, bill: bill, doubt: doubt))
    }

    /// Returns the forecast of a use in which each request may not be sent, or not be billed.
    ///
    /// - Parameter doubt: The reason, as part of a sentence after "because".
    func atMost(because doubt: String) -> Forecast {
        var forecast = self
        for index in items.indices { forecast.items[index].doubt = doubt }
        return forecast
    }

    init() {}

    /// - Parameter plan: The requests of a pager.
    init(_ plan: PagerPlan) { add(plan) }

    /// Adds the changes of documents that a listener may receive.
    mutating func addUpdatesAtMost(
        _ text: String, of rows: [ExpectedRow], because doubt: String
    ) {
        let bill = rows.reduce(into: PlannedBill()) { $0 += .update(bytes: $1.documentBytes) }
        addAtMost("\(text): \(rows.count)", bill, because: doubt)
    }

    /// Adds the requests of a pager.
    mutating func add(_ plan: PagerPlan) {
        for read in plan.reads { add("\(read.kind.text): \(read.rows)", read.bill) }
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
        guard
            let reads = await feed.readsToListen(changes: changed.count, items: newest.count)
        else { throw Unforeseen("\(await feed.plan.kind), \(changed.count) changes") }
        try add(reads, changed: changed, newest: newest)
    }

    /// Adds the requests of a feed that begins to listen, if it may have received some of the
    /// latest documents within the last minutes. The server sends those again.
    ///
    /// - Parameters:
    ///   - changed: The documents that have changed since the last read.
    ///   - recent: The latest documents, the last change first.
    ///   - newest: The items of the server, newest first.
    /// - Throws: ``Unforeseen`` if the feed cannot foresee its requests.
    mutating func add(
        _ feed: Feed, changed: [DocumentPath], recent: [ExpectedRow], newest: [ExpectedRow]
    ) async throws {
        try await feed.open()
        guard let reads = await feed.readsToListen(changed: changed, items: newest.count) else {
            throw Unforeseen("\(await feed.plan.kind), \(changed.count) changes")
        }
        try add(reads, changed: recent, newest: newest)
    }

    private mutating func add(
        _ reads: [ExpectedRead], changed: [ExpectedRow], newest: [ExpectedRow]
    ) throws {
        for read in reads {
            let rows = read.plan.since == nil && read.plan.kind == .full ? newest : changed
            guard read.plan.kind == .marks || rows.count >= read.rows,
                let bill = read.plan.bill(of: Array(rows.prefix(read.rows)))
            else { throw Unforeseen("a \(read.plan.kind) of \(read.rows) rows: \(rows.count)") }
            add("\(read.plan.kind.text): \(read.rows)", bill)
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

extension PlannedRead.Kind {
    /// The request in words.
    fileprivate var text: String {
        switch self {
        case .page: "page"
        case .resume: "resumed page"
        case .gap: "older page"
        case .changes: "changes of all pages"
        case .lookup: "lookup"
        case .live: "live changes"
        }
    }
}

extension Forecast: Encodable {
    private enum Key: String, CodingKey {
        case reads, units, atMost, because, requests
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(bill.reads, forKey: .reads)
        try container.encode(bill.units, forKey: .units)
        if !doubts.isEmpty {
            try container.encode(most, forKey: .atMost)
            try container.encode(doubts, forKey: .because)
        }
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

    /// Returns the prediction as a text, such as "6 reads" or "6 to 7 reads, because …".
    ///
    /// - Parameter lost: The number of answers that were billed and lost. The device sends each of
    ///   these requests again, so a bill is at most so many times longer.
    func text(in edition: DatabaseEdition, lost: Int) -> String {
        let least = Self.text(bill, in: edition)
        let most = Self.text(most(lost: lost), in: edition)
        if most == least { return least }
        let lostText = "\(lost) billed answer\(lost == 1 ? " was" : "s were") lost"
        let reasons = doubts + (lost == 0 ? [] : [lostText])
        return "\(least) to \(most), because \(reasons.joined(separator: "; "))"
    }

    private func most(lost: Int) -> PlannedBill {
        (0...lost).reduce(into: PlannedBill()) { sum, _ in sum += most }
    }

    /// Returns the complaint about a bill outside the forecast; nil if it is as predicted.
    func complaint(
        _ billed: PlannedBill, in edition: DatabaseEdition, lost: Int = 0
    ) -> String? {
        let most = most(lost: lost)
        let isForeseen =
            switch edition {
            case .standard: (bill.reads...most.reads).contains(billed.reads)
            case .enterprise:
                (bill.units.read...most.units.read).contains(billed.units.read)
                    && (bill.units.realtimeUpdate...most.units.realtimeUpdate)
                        .contains(billed.units.realtimeUpdate)
            }
        if isForeseen { return nil }
        let parts = items.map { "\($0.text) (\(Self.text($0.bill, in: edition)))" }
        return """
            predicted \(text(in: edition, lost: lost)), but billed \
            \(Self.text(billed, in: edition)): \(parts.joined(separator: ", "))
            """
    }
}
