import Foundation
import TidemarkWire

/// FirebaseFirestore's cache of one database: its targets, and its documents in slices.
///
/// Not `Sendable`: the task of a take-over reads it.
final class FirebaseCache {
    /// A query whose whole result is in the store.
    struct Target {
        /// FirebaseFirestore's number.
        var id: Int32
        var query: QueryValue
        var resumeToken: [UInt8]
        var version: Timestamp
        var lastUse: Int64
        /// True for a single document.
        var isDocument: Bool
    }

    /// The oldest form of a store whose targets say what they hold.
    private static let firstForm = 3
    /// The newest form of a store that is known here.
    private static let newestForm = 8

    let reader: StoreReader
    let database: DatabaseID
    private(set) var traces: Set<ByteString> = []
    /// The targets, from the one that was used last. A number of a target is its place here.
    private(set) var targets: [Target] = []
    /// The places of the targets by FirebaseFirestore's numbers.
    private(set) var numbers: [Int32: Int] = [:]
    /// The version of FirebaseFirestore's last snapshot.
    private(set) var lastVersion = Timestamp.epoch
    private(set) var leftOut: [CacheTakeOver.Reason: Int] = [:]
    private(set) var refusal: CacheTakeOver.Refusal?

    /// - Throws: ``FirebaseStoreError``: there is no store, or it cannot be read now.
    init(_ folder: URL, _ database: DatabaseID) throws(FirebaseStoreError) {
        self.database = database
        reader = try StoreReader(
            folder,
            under: [
                StoreKey.documents, StoreKey.targets, StoreKey.targetDocuments,
                StoreKey.documentTargets, StoreKey.allTargets, StoreKey.version,
                StoreKey.bundles, StoreKey.namedQueries,
            ] + StoreKey.users)
        let form = try readForm()
        guard let form, form <= Self.newestForm else {
            // The row can be in a damaged place.
            refusal =
                reader.damage.problems.first.map { .unreadable($0) }
                ?? .unknownVersion(form.map { "\($0)" } ?? "")
            return
        }
        try readTraces()
        if form >= Self.firstForm { try readTargets() }
        try checkDatabase()
    }

    /// Returns the form of the store; nil if its row is missing or not a number.
    private func readForm() throws(FirebaseStoreError) -> Int? {
        var cursor = reader.cursor(under: StoreKey.version)
        return try cursor.next().flatMap { Int(String(decoding: $0.value, as: UTF8.self)) }
    }

    private func readTraces() throws(FirebaseStoreError) {
        for table in StoreKey.users {
            var cursor = reader.cursor(under: table)
            while let (key, _) = try cursor.next() {
                if let user = StoreKey.user(key, in: table) { traces.insert(ByteString(user)) }
            }
        }
    }

    // MARK: Targets

    private func readTargets() throws(FirebaseStoreError) {
        var cursor = reader.cursor(under: StoreKey.targets)
        while let (key, value) = try cursor.next() {
            if let id = StoreKey.target(key), let target = target(id, value) {
                targets.append(target)
            }
        }
        targets.sort { ($0.lastUse, $0.id) > ($1.lastUse, $1.id) }
        let most = TakeOverSource.mostTargets
        if targets.count > most { leave(.tooMany, targets.count - most) }
        targets = Array(targets.prefix(most))
        for (number, target) in targets.enumerated() { numbers[target.id] = number }
        var global = reader.cursor(under: StoreKey.allTargets)
        if let row = try global.next() { lastVersion = Self.snapshotVersion(row.value) }
    }

    /// Returns nil for a target that cannot be taken, or that the server has never answered.
    private func target(_ id: Int32, _ value: [UInt8]) -> Target? {
        let stored: StoredTarget
        do throws(RPCStatus) { stored = try StoredTarget(value) } catch {
            leave(.unreadable)
            return nil
        }
        guard stored.database == database else {
            leave(.otherDatabase)
            return nil
        }
        guard stored.id == id, stored.version > .epoch else { return nil }
        let (query, isDocument) =
            switch stored.content {
            case .query(let query): (query, false)
            case .document(let path): (QueryValue(document: path, in: database), true)
            }
        return Target(
            id: id, query: query, resumeToken: stored.resumeToken, version: stored.version,
            lastUse: stored.lastUse, isDocument: isDocument)
    }

    /// Returns field 3 of the row about all targets; the epoch for bytes that cannot be read.
    private static func snapshotVersion(_ value: [UInt8]) -> Timestamp {
        let version = try? StoreMessage.parse(value) { reader throws(CodecError) in
            var version = Timestamp.epoch
            while !reader.isAtEnd {
                let tag = try reader.tag()
                if tag == 3 << 3 | 2 {
                    var inner = try reader.message()
                    version = try FieldsCodec.timestamp(&inner)
                } else {
                    try reader.skip(tag)
                }
            }
            return version
        }
        return version ?? .epoch
    }

    /// Refuses a store whose first document belongs to another database.
    private func checkDatabase() throws(FirebaseStoreError) {
        var cursor = reader.cursor(under: StoreKey.documents)
        while let (_, value) = try cursor.next() {
            guard let row = try? CachedRow(value) else { continue }
            if !row.name.hasPrefix(database.documentsRoot + "/") {
                let parts = row.name.split(separator: "/").prefix(4)
                refusal = .otherDatabase(parts.joined(separator: "/"))
            }
            return
        }
    }

    /// Counts what is not taken.
    func leave(_ reason: CacheTakeOver.Reason, _ count: Int = 1) {
        leftOut[reason, default: 0] += count
    }

    // MARK: What belongs to a target

    /// Returns the place of the target of a query; nil if the store has none.
    func number(of query: QueryValue) -> Int? {
        let text = query.wireForm.targetText
        // The text of a query costs more than its collection.
        return targets.firstIndex { target in
            target.query.collectionID == query.collectionID && target.query.parent == query.parent
                && target.query.targetText.hasSameBytes(as: text)
        }
    }

    /// True if nothing about targets is damaged, as far as it was read.
    var hasWholeTargets: Bool {
        ![StoreKey.targets, StoreKey.targetDocuments, StoreKey.documentTargets]
            .contains { reader.damage.mayHideKeys(under: $0) }
    }

    /// Returns the paths of a target's rows; nil if there are more than `most`.
    func rows(of target: Target, most: Int) throws(FirebaseStoreError) -> [String]? {
        var cursor = reader.cursor(under: StoreKey.documents(ofTarget: target.id))
        var paths: [String] = []
        while let (key, _) = try cursor.next() {
            guard paths.count < most else { return nil }
            if let row = StoreKey.targetDocument(key) { paths.append(row.path) }
        }
        return paths
    }

    /// Returns the number of rows of each target, by the target's place.
    func rowCounts() throws(FirebaseStoreError) -> [Int] {
        var counts = [Int](repeating: 0, count: targets.count)
        var cursor = reader.cursor(under: StoreKey.targetDocuments)
        while let (key, _) = try cursor.next() {
            if let row = StoreKey.targetDocument(key), let number = numbers[row.target] {
                counts[number] += 1
            }
        }
        return counts
    }

    /// Returns a document of the store; nil if it is not there.
    func document(at path: String) throws(FirebaseStoreError) -> [UInt8]? {
        try reader.value(of: StoreKey.document(at: path))
    }

    // MARK: Bundles

    func bundles() throws(FirebaseStoreError) -> [TakenBundle] {
        var bundles: [TakenBundle] = []
        var cursor = reader.cursor(under: StoreKey.bundles)
        while let (_, value) = try cursor.next() {
            if let bundle = Self.bundle(value) { bundles.append(bundle) }
        }
        return bundles
    }

    func namedQueries() throws(FirebaseStoreError) -> [TakenNamedQuery] {
        var queries: [TakenNamedQuery] = []
        var cursor = reader.cursor(under: StoreKey.namedQueries)
        while let (_, value) = try cursor.next() {
            guard let query = try? StoredNamedQuery(value), query.database == database else {
                leave(.unreadable)
                continue
            }
            queries.append(TakenNamedQuery(name: query.name, source: value))
        }
        return queries
    }

    /// Reads 1 an id and 2 a time of creation; nil for bytes that cannot be read.
    private static func bundle(_ value: [UInt8]) -> TakenBundle? {
        try? StoreMessage.parse(value) { reader throws(CodecError) in
            var bundle = TakenBundle(id: "", createTime: .epoch)
            while !reader.isAtEnd {
                let tag = try reader.tag()
                switch tag {
                case 1 << 3 | 2: bundle.id = try reader.text()
                case 2 << 3 | 2:
                    var inner = try reader.message()
                    bundle.createTime = try FieldsCodec.timestamp(&inner)
                default: try reader.skip(tag)
                }
            }
            return bundle
        }
    }
}
