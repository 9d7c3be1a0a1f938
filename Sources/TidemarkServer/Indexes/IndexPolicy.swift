import TidemarkModel

/// What happens to a query that production would refuse for want of an index.
public enum IndexPolicy: String, Hashable, Sendable, CaseIterable, Codable {
    /// It is refused, with production's text.
    case strict
    /// It runs, and the index is named on standard error, once.
    case warn
    /// It runs, and the index is added to the file.
    case auto
}

/// The indexes that a server holds its callers to.
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

/// Which indexes queries have used and missed since the start.
public struct IndexReport: Hashable, Sendable, Codable {
    public struct Row: Hashable, Sendable, Codable {
        /// The collections' id.
        public var collectionGroup: String
        /// `Collection` or `Collection group`.
        public var queryScope: String
        /// As in `(a ASC, __name__ ASC)`.
        public var properties: String
        /// How many queries.
        public var queries: Int
    }

    /// Nil where no indexes are enforced.
    public var policy: IndexPolicy?
    public var missing: [Row]
    public var used: [Row]
}

/// What the server knows of indexes while it runs, and what it has to tell about them.
struct IndexRegister {
    /// Kinds of indexes that are counted, used ones and missing ones each; of others nothing is
    /// kept. A query over made-up fields could fill the memory otherwise.
    static let capacity = 10_000

    /// Nil where nothing is enforced.
    private(set) var settings: IndexSettings?
    private var missing: [MissingIndex: Int] = [:]
    private var used: [Use: Int] = [:]
    /// What is new since they were taken.
    private(set) var notices: [Notice] = []

    /// For the shell to do.
    enum Notice: Hashable {
        case log(String)
        case add(MissingIndex, path: String)
    }

    private struct Use: Hashable {
        let group: ByteString
        let index: IndexUse
    }

    init(_ settings: IndexSettings?) { self.settings = settings }

    /// The indexes there are; without settings the automatic ones.
    var configuration: IndexConfiguration { settings?.configuration ?? Self.automatic }

    private static let automatic = IndexConfiguration()

    /// What production would plan; without a configuration, on automatic indexes alone.
    func requirement(_ query: Query, _ aggregations: [Aggregation]) -> IndexRequirement {
        IndexRequirement(query, aggregations, in: configuration.catalog)
    }

    /// Takes note of a query that is about to run.
    ///
    /// - Throws: With production's text where the policy is strict and an index is missing.
    mutating func admit(
        _ query: Query, _ requirement: IndexRequirement, in database: DatabaseID
    ) throws(RPCStatus) {
        guard let settings else { return }
        for use in requirement.uses { count(use, query.collectionID) }
        for index in requirement.missing { note(index, settings) }
        if settings.policy == .strict, let first = requirement.missing.first {
            throw first.refusal(in: database, hasManyRanges: query.inequalityFields.count > 1)
        }
    }

    private mutating func count(_ use: IndexUse, _ group: String?) {
        let key = Use(group: ByteString(group ?? ""), index: use)
        if used[key] != nil || used.count < Self.capacity { used[key, default: 0] += 1 }
    }

    private mutating func note(_ index: MissingIndex, _ settings: IndexSettings) {
        if let count = missing[index] {
            missing[index] = count + 1
            return
        }
        if missing.count >= Self.capacity { return }
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

    /// Most wanted first.
    var report: IndexReport {
        IndexReport(
            policy: settings?.policy,
            missing: Self.rows(missing.map { ($0.key.group.text, $0.key.use, $0.value) }),
            used: Self.rows(used.map { ($0.key.group.text, $0.key.index, $0.value) }))
    }

    private static func rows(_ counts: [(String, IndexUse, Int)]) -> [IndexReport.Row] {
        let rows = counts.map {
            IndexReport.Row(
                collectionGroup: $0, queryScope: $1.queryScope, properties: $1.properties,
                queries: $2)
        }
        return rows.sorted {
            ($1.queries, $0.collectionGroup, $0.properties)
                < ($0.queries, $1.collectionGroup, $1.properties)
        }
    }

    /// A file of the indexes that are missing, as many as one can hold; nil where none is.
    var missingConfiguration: IndexConfiguration? {
        if missing.isEmpty { return nil }
        var result = IndexConfiguration()
        let wanted = missing.sorted { ($1.value, $0.key.sentence) < ($0.value, $1.key.sentence) }
        for (index, _) in wanted { _ = result.add(index) }
        return result
    }
}
