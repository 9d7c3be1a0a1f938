import TidemarkModel

/// The treatment of a query that production would refuse because an index is missing.
public enum IndexPolicy: String, Hashable, Sendable, CaseIterable, Codable {
    /// The query is refused, with production's text.
    case strict
    /// The query runs, and the index is named on standard error, once.
    case warn
    /// The query runs, and the index is added to the file.
    case auto
}

/// The indexes that a server requires of its callers.
public struct IndexSettings: Hashable, Sendable {
    public var configuration: IndexConfiguration
    public var policy: IndexPolicy
    /// The file that ``IndexPolicy/auto`` adds to; nil for none.
    public var path: String?

    public init(
        _ configuration: IndexConfiguration, policy: IndexPolicy = .strict, path: String? = nil
    ) {
        self.configuration = configuration
        self.policy = policy
        self.path = path
    }
}

/// The indexes that queries have used and missed since the start.
public struct IndexReport: Hashable, Sendable, Codable {
    public struct Row: Hashable, Sendable, Codable {
        /// The id of a database with its own indexes; nil for the other databases.
        public var database: String?
        /// The id of the collections.
        public var collectionGroup: String
        /// `Collection` or `Collection group`.
        public var queryScope: String
        /// The fields, as in `(a ASC, __name__ ASC)`.
        public var properties: String
        /// The number of queries.
        public var queries: Int
    }

    /// The policy; nil if no indexes are enforced.
    public var policy: IndexPolicy?
    public var missing: [Row]
    public var used: [Row]
    /// The scans of queries without an index in databases of the Enterprise edition, the most
    /// expensive first; nil if there were none.
    public var scans: [Scan]?

    /// The scans that an index would replace.
    public struct Scan: Hashable, Sendable, Codable {
        /// The name of the database, such as `(default)`.
        public var database: String
        /// The id of the collections.
        public var collectionGroup: String
        /// `Collection` or `Collection group`.
        public var queryScope: String
        /// The fields of the index, as in `(a ASC, __name__ ASC)`.
        public var properties: String
        /// The number of queries.
        public var queries: Int
        /// The number of documents that they scanned.
        public var documents: Int
        /// The billed read units of these queries.
        public var readUnits: Int
    }
}

/// The server's knowledge of indexes while it runs, with the notices about them.
struct IndexRegister {
    /// The maximum number of counted kinds of used indexes, and of missing indexes; further kinds
    /// are ignored. Otherwise queries over invented fields could fill the memory.
    static let capacity = 10_000
    /// The maximum number of bytes of the names in each of the two; further kinds are ignored, too.
    static let maxNameBytes = 8 << 20

    /// The settings; nil if nothing is enforced.
    private(set) var settings: IndexSettings?
    private var missing: [MissingIndex: Int] = [:]
    private var used: [Use: Int] = [:]
    /// The bytes of the names in ``missing`` and ``used``.
    private(set) var nameBytes = (missing: 0, used: 0)
    /// The new notices since they were last taken.
    private(set) var notices: [Notice] = []

    /// A task for the shell.
    enum Notice: Hashable {
        case log(String)
        case add(MissingIndex, path: String)
    }

    private struct Use: Hashable {
        let group: ByteString
        let index: IndexUse
    }

    init(_ settings: IndexSettings?) { self.settings = settings }

    /// Replaces the indexes. Those that exist now are no longer missing.
    mutating func set(_ new: IndexSettings?) {
        settings = new
        let catalog = configuration.catalog
        let composites = Set(catalog.composites)
        missing = missing.filter { missing, _ in
            switch missing {
            case .composite(let index): !composites.contains(index)
            case .singleField(let index): !catalog.has(index)
            }
        }
        nameBytes.missing = missing.keys.reduce(0) { $0 + $1.nameBytes }
    }

    /// The existing indexes; without settings, the automatic indexes.
    var configuration: IndexConfiguration { settings?.configuration ?? Self.automatic }

    private static let automatic = IndexConfiguration()

    /// Returns production's plan; without a configuration, only with automatic indexes.
    func requirement(_ query: Query, _ aggregations: [Aggregation]) -> IndexRequirement {
        IndexRequirement(query, aggregations, in: configuration.catalog)
    }

    /// Records a query that is about to run.
    ///
    /// - Returns: A status with production's text, if the policy is strict and an index is missing.
    mutating func admit(
        _ query: Query, _ requirement: IndexRequirement, in database: DatabaseID
    ) -> RPCStatus? {
        guard let settings else { return nil }
        for use in requirement.uses { count(use, query.collectionID) }
        for index in requirement.missing { note(index, settings) }
        guard settings.policy == .strict, let first = requirement.missing.first else { return nil }
        return first.refusal(in: database, hasManyRanges: query.inequalityFields.count > 1)
    }

    /// Records the indexes that a query uses, where no index is demanded.
    mutating func note(_ uses: [IndexUse], of query: Query) {
        if settings == nil { return }
        for use in uses { count(use, query.collectionID) }
    }

    private mutating func count(_ use: IndexUse, _ group: String?) {
        let key = Use(group: ByteString(group ?? ""), index: use)
        if let count = used[key] {
            used[key] = count + 1
            return
        }
        let bytes = (group?.utf8.count ?? 0) + use.properties.utf8.count
        if used.count >= Self.capacity || nameBytes.used + bytes > Self.maxNameBytes { return }
        nameBytes.used += bytes
        used[key] = 1
    }

    private mutating func note(_ index: MissingIndex, _ settings: IndexSettings) {
        if let count = missing[index] {
            missing[index] = count + 1
            return
        }
        let bytes = index.nameBytes
        if missing.count >= Self.capacity || nameBytes.missing + bytes > Self.maxNameBytes {
            return
        }
        nameBytes.missing += bytes
        missing[index] = 1
        switch settings.policy {
        case .strict: break
        case .warn: notices.append(.log("index missing: \(index.sentence)"))
        case .auto: add(index, settings)
        }
    }

    private mutating func add(_ index: MissingIndex, _ settings: IndexSettings) {
        if self.settings?.configuration.add(index) == true {
            notices.append(.log("index added: \(index.sentence)"))
            if let path = settings.path { notices.append(.add(index, path: path)) }
        } else {
            notices.append(
                .log("index missing, and the file is full: \(index.sentence)"))
        }
    }

    mutating func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices
    }

    /// Returns the report, the most wanted first.
    func report(of scope: DatabaseScope) -> IndexReport {
        IndexReport(
            policy: settings?.policy,
            missing: Self.rows(missing.map { ($0.key.group.text, $0.key.use, $0.value) }, scope),
            used: Self.rows(used.map { ($0.key.group.text, $0.key.index, $0.value) }, scope))
    }

    private static func rows(
        _ counts: [(String, IndexUse, Int)], _ scope: DatabaseScope
    ) -> [IndexReport.Row] {
        let rows = counts.map {
            IndexReport.Row(
                database: scope.id, collectionGroup: $0, queryScope: $1.queryScope,
                properties: $1.properties,
                queries: $2)
        }
        return rows.sorted {
            ($1.queries, $0.collectionGroup, $0.properties)
                < ($0.queries, $1.collectionGroup, $1.properties)
        }
    }

    /// A file of the missing indexes, as many as a file can contain; nil if none is missing.
    var missingConfiguration: IndexConfiguration? {
        if missing.isEmpty { return nil }
        var result = IndexConfiguration()
        let wanted = missing.sorted { ($1.value, $0.key.sentence) < ($0.value, $1.key.sentence) }
        for (index, _) in wanted { _ = result.add(index) }
        return result
    }
}

extension MissingIndex {
    /// The bytes of the names.
    fileprivate var nameBytes: Int { group.text.utf8.count + use.properties.utf8.count }
}
