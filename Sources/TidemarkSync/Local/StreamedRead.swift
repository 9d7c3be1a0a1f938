package import TidemarkModel
import TidemarkStore

/// Takes the rows of a query one at a time, so that nobody holds all of them.
package protocol RowReceiver: AnyObject {
    /// Forgets all rows. Called before the first row, and again when the rows begin anew.
    func begin()

    /// Takes a row.
    ///
    /// - Returns: False if no more rows are wanted.
    func take(_ row: ViewDocument) -> Bool

    /// True if rows without pending writes may be passed on as their fields alone.
    var takesFields: Bool { get }

    /// Takes the fields of a row without pending writes. Called only if ``takesFields`` is true.
    ///
    /// - Parameter fields: Valid during the call only.
    /// - Returns: False if no more rows are wanted.
    func take(_ fields: FieldsInPlace) -> Bool
}

/// The rows of a query in any order, passed on one at a time, with pending writes.
///
/// A document that changes during the read may have been passed on already. The rows then begin
/// anew, and the changed documents are passed on last, as they are at the end. After ``maxRuns``
/// the read gives up: a caller collects the rows instead.
final class StreamedRead: SlicedRead {
    static let maxRuns = 4

    private let query: Query
    private let local: LocalStore
    private let receiver: any RowReceiver
    private var scan: RowScan?
    /// The documents that are passed on at the end.
    private var last: Set<DocumentPath> = []
    private var runs = 0
    private var isWanted = true
    /// True if the documents changed during each run.
    private(set) var hasGivenUp = false
    /// True if a row had a pending write.
    private(set) var hasPendingWrites = false

    /// - Precondition: The query has neither limit nor offset. Its orders have no effect.
    init(_ query: Query, to receiver: any RowReceiver, in local: LocalStore) {
        precondition(query.limit == nil && query.offset == 0)
        self.query = query
        self.receiver = receiver
        self.local = local
    }

    func step(_ budget: ScanBudget) throws -> Bool {
        try local.read(.read) { transaction in
            let table = transaction.documents(of: local.database)
            let scan = try self.scan ?? begin(table)
            let isAtEnd =
                receiver.takesFields
                ? try table.step(scan, budget: budget, fieldsTo: self)
                : try table.step(scan, budget: budget) { stored in
                    let row = LocalDocument(consume stored)
                    if isWanted, last.isEmpty || !last.contains(row.path) { pass(row) }
                }
            if !isWanted { return true }
            if scan.isLost { self.scan = nil }
            guard isAtEnd else { return false }
            return try finish(scan, transaction)
        }
    }

    private func begin(_ table: DocumentTable) throws -> RowScan {
        last.formUnion(local.queue.pending.paths(in: query))
        let scan = try table.scan(
            query, capacity: .max, inAnyOrder: true, fieldsOnly: receiver.takesFields)
        self.scan = scan
        receiver.begin()
        return scan
    }

    private func pass(_ row: LocalDocument) {
        guard let document = row.viewDocument else { return }
        if document.hasPendingWrites { hasPendingWrites = true }
        isWanted = receiver.take(document)
    }

    private func finish(_ scan: RowScan, _ transaction: StoreTransaction) throws -> Bool {
        self.scan = nil
        let changed = scan.touched.union(local.queue.pending.paths(in: query))
        if !changed.isSubset(of: last) {
            last.formUnion(changed)
            runs += 1
            hasGivenUp = runs == Self.maxRuns
            return hasGivenUp
        }
        for row in try local.documents.written(last.sorted(), in: query, transaction) where isWanted
        {
            pass(row)
        }
        return true
    }
}

extension StreamedRead: FieldReceiver {
    var excluded: Set<DocumentPath> { last }

    func take(_ fields: FieldsInPlace) { if isWanted { isWanted = receiver.take(fields) } }
}
