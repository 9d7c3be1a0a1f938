package import TidemarkModel
import TidemarkStore

/// A document of another client's cache.
package struct TakenDocument: Sendable {
    package enum Kind: Hashable, Sendable {
        case found, missing
        /// The document exists, and its contents are not known.
        case unknown
    }

    package var path: DocumentPath
    package var kind: Kind
    /// The contents; empty unless the document was found.
    package var contents: EncodedFields
    /// The update time, or the time at which the document was missing.
    package var version: Timestamp
    /// The last time at which the server is known to have had this version.
    package var readTime: Timestamp
    /// True if the contents were computed from an acknowledged write.
    package var isCommitted: Bool
    /// The numbers of the taken targets that have the document. If there are none, the document
    /// is removed first when the cache is full.
    package var targets: [Int]

    package init(
        path: DocumentPath, kind: Kind, contents: EncodedFields,
        version: Timestamp, readTime: Timestamp, isCommitted: Bool, targets: [Int]
    ) {
        self.path = path
        self.kind = kind
        self.contents = contents
        self.version = version
        self.readTime = readTime
        self.isCommitted = isCommitted
        self.targets = targets
    }

    /// The document for this cache. The other client has stored no time of creation.
    var stored: StoredDocument {
        let kind: StoredDocument.Kind =
            switch kind {
            case .found: .found
            case .missing: .missing
            case .unknown: .unknown
            }
        return StoredDocument(
            path: path, kind: kind, contents: contents, createTime: .epoch, updateTime: version,
            readTime: max(readTime, version), hasCommittedMutations: isCommitted)
    }
}

/// A query's result in another client's cache.
package struct TakenTarget: Sendable {
    /// The number among the targets of the store, from the last used one.
    package var number: Int
    package var query: Query
    /// The resume token; empty for the result of a bundle.
    package var resumeToken: [UInt8]
    /// The time as of which the rows are the whole result.
    package var version: Timestamp
    package var rowCount: Int

    package init(
        number: Int, query: Query, resumeToken: [UInt8], version: Timestamp, rowCount: Int
    ) {
        self.number = number
        self.query = query
        self.resumeToken = resumeToken
        self.version = version
        self.rowCount = rowCount
    }
}

/// A bundle that another client has loaded.
package struct TakenBundle: Sendable {
    package var id: String
    package var createTime: Timestamp

    package init(id: String, createTime: Timestamp) {
        self.id = id
        self.createTime = createTime
    }
}

/// A query of a bundle that another client has loaded.
package struct TakenNamedQuery: Sendable {
    package var name: String
    /// The `NamedQuery` message of the other client.
    package var source: [UInt8]

    package init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
    }
}

/// Another client's cache that is taken over.
package struct TakeOverSource: Sendable {
    /// A text that no other store has, and that changes with the store's files.
    package var mark: String
    /// The user to whom the documents belong.
    package var user: String?
    /// The number of targets that can be taken, at most ``mostTargets``.
    package var targetCount: Int

    /// True if somebody on this device has begun to take this store: then it is only continued,
    /// by the user who began.
    package var isSpent: Bool

    /// The maximum number of targets of a store; the documents of others are taken without them.
    package static let mostTargets = 2_000

    package init(mark: String, user: String?, targetCount: Int, isSpent: Bool) {
        precondition((0...Self.mostTargets).contains(targetCount))
        self.mark = mark
        self.user = user
        self.targetCount = targetCount
        self.isSpent = isSpent
    }

    var recordKey: String { "takeOver/" + mark }
}

/// Documents that are stored in one transaction.
package struct TakeOverPart: Sendable {
    package var documents: [TakenDocument] = []
    /// The numbers of targets of which a row cannot be taken.
    package var spoiled: Set<Int> = []
    /// The position from which a later process goes on. The cache does not interpret it.
    package var position: [UInt8] = []

    package init() {}
}

/// The state of a take-over when a process begins.
package enum TakeOverState: Equatable, Sendable {
    /// Everything was taken before.
    case done
    /// - position: The position of the last part; empty at the start.
    /// - spoiled: The targets of which a row could not be taken.
    case open(position: [UInt8], spoiled: Set<Int>)
}

/// The record of a take-over that is under way.
struct TakeOverRecord: Equatable {
    private static let format: UInt8 = 1

    var firstID: Int32
    var count: Int
    var firstSequence: Int64
    var position: [UInt8] = []
    var spoiled: Set<Int> = []

    init(firstID: Int32, count: Int, firstSequence: Int64) {
        self.firstID = firstID
        self.count = count
        self.firstSequence = firstSequence
    }

    /// The ids of targets are even.
    func id(of number: Int) -> Int32 { firstID + 2 * Int32(number) }
    var lastID: Int32 { id(of: count) - 1 }

    var encoded: [UInt8] {
        var writer = RecordWriter(format: Self.format)
        writer.signed(Int64(firstID))
        writer.unsigned(UInt64(count))
        writer.signed(firstSequence)
        writer.unsigned(UInt64(position.count))
        for byte in position { writer.unsigned(UInt64(byte)) }
        writer.unsigned(UInt64(spoiled.count))
        for number in spoiled.sorted() { writer.unsigned(UInt64(number)) }
        return writer.bytes
    }

    init?(encoded bytes: [UInt8]) {
        guard var reader = RecordReader(bytes, format: Self.format),
            let firstID = reader.signed().flatMap(Int32.init(exactly:)),
            let count = reader.unsigned().flatMap(Int.init(exactly:)),
            let firstSequence = reader.signed(), let position = reader.numbers(),
            let spoiled = reader.numbers(), reader.isAtEnd
        else { return nil }
        self.init(firstID: firstID, count: count, firstSequence: firstSequence)
        self.position = position.map(UInt8.init(truncatingIfNeeded:))
        self.spoiled = Set(spoiled)
    }
}

extension RecordReader {
    /// Reads a count and as many numbers.
    fileprivate mutating func numbers() -> [Int]? {
        guard let count = unsigned().flatMap(Int.init(exactly:)) else { return nil }
        var numbers: [Int] = []
        while numbers.count < count {
            guard let number = unsigned().flatMap(Int.init(exactly:)) else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}

extension Query {
    /// Returns the query as which a document is listened to.
    package init(document path: DocumentPath, in database: DatabaseID) {
        self = Self.document(path, in: database)
    }

    /// The text that equals another query's only if a server gives both the same result. It is
    /// complete where queries can be written in several ways: its orders are all orders, and an AND
    /// within an AND is a part of the outer one.
    package var targetText: String {
        flat.canonicalID(orders: normalizedOrders)
    }

    /// The beginning of the texts of all queries with the same collection and filters.
    var targetPrefix: String { flat.canonicalID(orders: []) }

    private var flat: Query {
        var query = self
        query.filter = filter?.flat
        return query
    }
}

extension Filter {
    /// The filter without ANDs directly inside ANDs. FirebaseFirestore nests the filters of a query
    /// that was chained after an AND, where this client extends the AND.
    fileprivate var flat: Filter {
        guard case .and(let parts) = self,
            parts.contains(where: { if case .and = $0 { true } else { false } })
        else { return self }
        return .and(
            parts.flatMap { part -> [Filter] in
                if case .and(let inner) = part.flat { inner } else { [part] }
            })
    }
}
