import TidemarkModel

/// The scans in databases of the Enterprise edition, by the index that each would need.
struct ScanRegister {
    /// The maximum number of kinds; further kinds are ignored, because queries over invented fields
    /// could fill the memory.
    static let capacity = 1_000

    private struct Key: Hashable {
        let database: DatabaseID
        let index: MissingIndex
    }

    private var byKey: [Key: IndexReport.Scan] = [:]
    private var notices: [IndexRegister.Notice] = []

    /// The scans, the most expensive first.
    var rows: [IndexReport.Scan] {
        byKey.values.sorted {
            ($1.readUnits, $0.collectionGroup, $0.properties)
                < ($0.readUnits, $1.collectionGroup, $1.properties)
        }
    }

    mutating func note(_ index: MissingIndex, units: QueryUnits, in database: DatabaseID) {
        let key = Key(database: database, index: index)
        if byKey[key] == nil {
            if byKey.count >= Self.capacity { return }
            notices.append(
                .log(
                    """
                    scan: a query on \(index.group.text) has no index and reads \
                    \(units.scanned) documents for \(units.total) read units; an index of \
                    \(index.use.properties) would serve it
                    """))
        }
        var row =
            byKey[key]
            ?? IndexReport.Scan(
                database: database.database, collectionGroup: index.group.text,
                queryScope: index.use.queryScope, properties: index.use.properties, queries: 0,
                documents: 0, readUnits: 0)
        row.queries += 1
        row.documents += units.scanned
        row.readUnits += units.total
        byKey[key] = row
    }

    mutating func takeNotices() -> [IndexRegister.Notice] {
        defer { notices = [] }
        return notices
    }
}
