/// Firestore's edition of a database. It decides which calls the database accepts and how it is
/// billed.
public enum DatabaseEdition: String, Hashable, Sendable, CaseIterable, Codable {
    case standard
    case enterprise

    /// True if the edition runs pipelines.
    public var hasPipelines: Bool { self == .enterprise }
    /// True if a query without an index is refused. Otherwise it scans.
    public var demandsIndexes: Bool { self == .standard }
    /// True if the edition is billed in ``BilledUnits``.
    public var isBilledByUnits: Bool { self == .enterprise }
    /// The maximum size of a document in bytes.
    public var documentBytes: Int {
        self == .enterprise
            ? DocumentLimits.enterpriseDocumentBytes : DocumentLimits.documentBytes
    }
    /// The maximum size of one string or bytes value, in bytes.
    public var valueBytes: Int {
        self == .enterprise ? DocumentLimits.enterpriseValueBytes : DocumentLimits.valueBytes
    }
}

/// The editions of a server's databases, by the name of the database. All projects share them.
public struct DatabaseEditions: Hashable, Sendable {
    /// The edition of databases without an own one.
    public var common: DatabaseEdition
    /// The editions of single databases, by their name, for example `(default)`.
    public var own: [String: DatabaseEdition]

    /// - Parameters:
    ///   - common: The edition of databases without an own one.
    ///   - own: The editions of single databases, by their name.
    public init(_ common: DatabaseEdition = .standard, own: [String: DatabaseEdition] = [:]) {
        self.common = common
        self.own = own
    }

    /// Returns the edition of a database.
    public func edition(of database: DatabaseID) -> DatabaseEdition {
        own[database.database] ?? common
    }
}
