public import TidemarkModel

/// A document that a caller expects in the answer of a request, as the Enterprise edition bills it.
public struct ExpectedRow: Hashable, Sendable {
    /// The size of the document in bytes, as ``Document/storageSize(of:at:)`` counts it.
    public var documentBytes: Int
    /// The size of its entry in the index of the query, in bytes.
    public var entryBytes: Int

    public init(documentBytes: Int, entryBytes: Int) {
        self.documentBytes = documentBytes
        self.entryBytes = entryBytes
    }
}

/// The bill of requests whose answers are known in advance, in both editions.
public struct PlannedBill: Hashable, Sendable, Codable {
    /// The number of billed reads in a database of the Standard edition.
    public var reads: Int
    /// The units in a database of the Enterprise edition.
    public var units: BilledUnits

    public init(reads: Int = 0, units: BilledUnits = BilledUnits()) {
        self.reads = reads
        self.units = units
    }

    /// Returns the bill of a document that is read by its name.
    ///
    /// - Parameter bytes: The size of the document.
    public static func document(bytes: Int) -> PlannedBill {
        PlannedBill(reads: 1, units: BilledUnits(read: UnitBilling.pointRead(bytes: bytes)))
    }

    /// Returns the bill of a changed document that a listener receives.
    ///
    /// - Parameter bytes: The size of the document.
    public static func update(bytes: Int) -> PlannedBill {
        PlannedBill(reads: 1, units: BilledUnits(realtimeUpdate: UnitBilling.update(bytes: bytes)))
    }

    /// The bill of a document that leaves the result of a listener because it changed.
    public static let removal = PlannedBill(
        reads: 1, units: BilledUnits(realtimeUpdate: UnitBilling.removal))

    /// Returns the bill of a query over an index, or of the first answer of its listener.
    public static func query(_ rows: some Sequence<ExpectedRow>) -> PlannedBill {
        var (count, points, entries) = (0, 0, 0)
        for row in rows {
            count += 1
            points += UnitBilling.pointRead(bytes: row.documentBytes)
            entries += max(UnitBilling.leastScannedBytes, row.entryBytes)
        }
        let units = points + (count == 0 ? 1 : UnitBilling.scan(bytes: entries))
        return PlannedBill(reads: max(1, count), units: BilledUnits(read: units))
    }

    /// Returns the bill of a count.
    ///
    /// - Parameter items: The number of counted documents.
    public static func count(items: Int) -> PlannedBill {
        PlannedBill(
            reads: max(1, (items + 999) / 1_000),
            units: BilledUnits(read: UnitBilling.count(items: items)))
    }

    /// Returns the bill of a listener whose result has changed: its new and changed rows, those
    /// that come from below, and those that leave it because they changed.
    ///
    /// - Parameter isChanged: Returns true for a document that exists and has changed.
    package static func changes(
        from old: [DocumentPath], to rows: [(path: DocumentPath, bytes: Int)],
        isChanged: (DocumentPath) -> Bool
    ) -> (rows: Int, bill: PlannedBill) {
        let before = Set(old)
        let sent = rows.filter { !before.contains($0.path) || isChanged($0.path) }
        var bill = PlannedBill()
        for row in sent { bill += .update(bytes: row.bytes) }
        let left = before.subtracting(rows.map(\.path)).filter(isChanged)
        for _ in left { bill += .removal }
        return (sent.count + left.count, bill)
    }

    public static func += (left: inout PlannedBill, right: PlannedBill) {
        left.reads += right.reads
        left.units += right.units
    }
}

extension ReadPlan {
    /// Returns the bill of the request if its answer has these rows, in a database whose index
    /// serves the query. An answer has at most ``pageSize`` rows: pass no more of them.
    ///
    /// - Parameter rows: The rows of the answer; for a count, the counted documents.
    /// - Returns: The bill; nil for an audit, whose next requests depend on its answers.
    public func bill(of rows: [ExpectedRow]) -> PlannedBill? {
        switch question {
        case .marks where kind == .resume, .changes where kind == .resume:
            rows.reduce(into: PlannedBill()) { $0 += .update(bytes: $1.documentBytes) }
        case .marks: .document(bytes: rows.first?.documentBytes ?? 0)
        case .changeCount: .count(items: rows.count)
        case .changes, .items: .query(rows)
        case .figures(let ranges): ranges.isEmpty ? PlannedBill() : nil
        }
    }
}

/// A request that a feed is expected to send, with the number of rows of its answer.
public struct ExpectedRead: Hashable, Sendable {
    public let plan: ReadPlan
    /// The number of rows; for a count, the number of counted documents.
    public let rows: Int

    package init(_ plan: ReadPlan, rows: Int) {
        self.plan = plan
        self.rows = rows
    }
}
