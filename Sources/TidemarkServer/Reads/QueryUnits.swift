import TidemarkModel
import TidemarkStore

/// The read units of a query on a database of the Enterprise edition, while its answer is made.
///
/// An index costs one scan of its entries, and a read of each document by its name. Documents in
/// the order of their names are scanned without an index. A query without an index scans its
/// collection, or its whole collection group: production does not publish a cheaper way. Several
/// indexes that are merged are assumed to have one entry each for a row.
struct QueryUnits {
    /// The way in which the query finds its rows.
    enum Plan {
        case names
        case indexes(EntrySizes)
        case scan(MissingIndex)
    }

    let plan: Plan
    private let query: Query
    /// The read units of documents that were read by their names.
    private var points = 0
    /// The bytes of scanned documents and index entries.
    private var bytes = 0
    /// The number of documents of a scan.
    private(set) var scanned = 0

    init(_ query: Query, _ requirement: IndexRequirement) {
        self.query = query
        if query.filter == nil, query.findNearest == nil,
            query.normalizedOrders.allSatisfy(\.field.isDocumentID)
        {
            plan = .names
        } else if let missing = requirement.missing.first {
            plan = .scan(missing)
        } else if requirement.declared.isEmpty {
            plan = .names
        } else {
            plan = .indexes(EntrySizes(Array(requirement.declared)))
        }
    }

    /// The units so far: at least one.
    var total: Int { points + (bytes > 0 || points == 0 ? UnitBilling.scan(bytes: bytes) : 0) }

    /// Adds a row of the result.
    mutating func add(_ document: Document) {
        let fields = document.fields
        let size = Document.storageSize(of: fields, at: document.path)
        switch plan {
        case .names: bytes += max(UnitBilling.leastScannedBytes, size)
        case .indexes(let entries):
            points += UnitBilling.pointRead(bytes: size)
            bytes += entries.bytes(at: document.path, fields)
        case .scan: break
        }
    }

    /// Adds what the query reads beside its rows: a scan without an index, skipped rows, and the
    /// vectors of a search. Call it once, with the totals of the first part of the answer.
    ///
    /// - Throws: ``StoreError``. Costs a pass over the collection if no index serves the query.
    mutating func addRest(_ totals: ReadScope.Totals, in scope: ReadScope) throws {
        if let search = query.findNearest {
            // Production reads the whole index of vectors; a component has 8 bytes.
            bytes += totals.vectorEntries * search.vector.count * 8
        }
        switch plan {
        case .scan: try addScan(in: scope)
        case .names, .indexes: try addSkipped(totals.skipped, in: scope)
        }
    }

    private mutating func addSkipped(_ count: Int, in scope: ReadScope) throws {
        guard count > 0 else { return }
        var skipped = query
        skipped.offset = 0
        skipped.limit = .first(count)
        var sum = 0
        let plan = plan
        _ = try scope.run(skipped) { document in
            let fields = document.fields
            if case .indexes(let entries) = plan {
                sum += entries.bytes(at: document.path, fields)
            } else {
                sum += Document.storageSize(of: fields, at: document.path)
            }
            return true
        }
        bytes += sum
    }

    /// Adds the documents that a scan reads. In the order of names it ends with the last row.
    private mutating func addScan(in scope: ReadScope) throws {
        let prepared = PreparedQuery(query, in: scope.database)
        var wanted = Int.max
        if case .first(let limit)? = query.limit,
            query.normalizedOrders.allSatisfy({
                $0.field == .documentID && $0.direction == .ascending
            })
        {
            let (sum, overflow) = limit.addingReportingOverflow(query.offset)
            wanted = overflow ? .max : sum
        }
        var found = 0
        var (sum, count) = (0, 0)
        _ = try scope.run(query.source) { document in
            if found >= wanted { return false }
            let fields = document.fields
            sum += max(
                UnitBilling.leastScannedBytes,
                Document.storageSize(of: fields, at: document.path))
            count += 1
            if wanted < .max, prepared.matches(document.path, fields) { found += 1 }
            return true
        }
        bytes += sum
        scanned += count
    }
}

extension QueryUnits {
    /// Returns the read units of an aggregation.
    ///
    /// - Parameters:
    ///   - entries: The number of index entries that production reads.
    ///   - isCount: True if all figures are counts, which read no contents.
    static func aggregation(
        _ query: Query, _ requirement: IndexRequirement, entries: Int, isCount: Bool,
        in scope: ReadScope
    ) throws -> QueryUnits {
        var units = QueryUnits(query, requirement)
        switch units.plan {
        case .scan: try units.addScan(in: scope)
        case .names, .indexes:
            if isCount {
                units.bytes = entries * UnitBilling.leastScannedBytes
            } else {
                let plan = units.plan
                var sum = 0
                _ = try scope.run(query) { document in
                    let fields = document.fields
                    if case .indexes(let sizes) = plan {
                        sum += sizes.bytes(at: document.path, fields)
                    } else {
                        sum += Document.storageSize(of: fields, at: document.path)
                    }
                    return true
                }
                units.bytes = sum
            }
        }
        return units
    }
}

extension Query {
    /// The documents among which the query searches, without conditions, in the order of names.
    fileprivate var source: Query {
        var source = self
        source.filter = nil
        source.orders = []
        source.start = nil
        source.end = nil
        source.offset = 0
        source.limit = nil
        source.findNearest = nil
        source.projection = nil
        return source
    }
}
