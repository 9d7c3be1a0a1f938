public import TidemarkModel

/// The units that a plan costs in a database of the Enterprise edition, as a range if they cannot
/// be known in advance.
public struct UnitPrediction: Hashable, Sendable {
    public var atLeast: BilledUnits
    /// The maximum; nil if only the server knows it.
    public var atMost: BilledUnits?
    /// The units if nothing has changed since the last read; nil if unknown.
    public var ifUnchanged: BilledUnits?

    public init(atLeast: BilledUnits, atMost: BilledUnits?, ifUnchanged: BilledUnits? = nil) {
        self.atLeast = atLeast
        self.atMost = atMost
        self.ifUnchanged = ifUnchanged
    }

    /// Returns true if a bill lies within the prediction.
    public func allows(_ units: BilledUnits) -> Bool {
        units.read >= atLeast.read && units.realtimeUpdate >= atLeast.realtimeUpdate
            && (atMost.map {
                units.read <= $0.read && units.realtimeUpdate <= $0.realtimeUpdate
            } ?? true)
    }
}

extension ReadPlan {
    /// Returns the units of the plan in a database of the Enterprise edition in which a declared
    /// index serves the feed's query. Without an index the query scans its collection, whose size a
    /// device does not know.
    ///
    /// - Parameters:
    ///   - documentBytes: The size of a document, as ``Document/storageSize(of:at:)`` counts it.
    ///   - entryBytes: The size of an index entry.
    public func units(documentBytes: Int, entryBytes: Int) -> UnitPrediction {
        switch question {
        case .marks where kind == .resume:
            let update = UnitBilling.update(bytes: documentBytes)
            return UnitPrediction(
                atLeast: BilledUnits(), atMost: BilledUnits(realtimeUpdate: update),
                ifUnchanged: BilledUnits())
        case .marks: return fixed(UnitBilling.pointRead(bytes: documentBytes))
        case .figures(let ranges):
            return UnitPrediction(
                atLeast: BilledUnits(read: ranges.count),
                atMost: ranges.isEmpty ? BilledUnits() : nil,
                ifUnchanged: ranges.isEmpty ? BilledUnits() : nil)
        case .changeCount(_, let most):
            return UnitPrediction(
                atLeast: BilledUnits(read: 1),
                atMost: BilledUnits(read: UnitBilling.count(items: most)),
                ifUnchanged: BilledUnits(read: 1))
        case .changes where kind == .resume:
            // The changes arrive as real-time updates.
            let each = UnitBilling.update(bytes: documentBytes)
            return UnitPrediction(
                atLeast: BilledUnits(),
                atMost: prediction.atMost.map { BilledUnits(realtimeUpdate: $0 * each) },
                ifUnchanged: BilledUnits())
        case .changes, .items:
            func rows(_ count: Int) -> BilledUnits {
                BilledUnits(
                    read: UnitBilling.query(
                        documents: count, documentBytes: documentBytes, entryBytes: entryBytes))
            }
            // A query without rows costs one unit, and one read in the Standard edition.
            return UnitPrediction(
                atLeast: prediction.atLeast <= 1 ? rows(0) : rows(prediction.atLeast),
                atMost: prediction.atMost.map(rows),
                ifUnchanged: prediction.rowsIfUnchanged.map(rows))
        }
    }

    private func fixed(_ units: Int) -> UnitPrediction {
        let units = BilledUnits(read: units)
        return UnitPrediction(atLeast: units, atMost: units, ifUnchanged: units)
    }
}
