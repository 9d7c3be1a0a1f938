import TidemarkModel

/// An item as a client showed it: which, and which version.
struct ShownItem: Hashable, Sendable {
    let id: String
    let version: Timestamp
}

/// What is really there: a full read of the server, made by none of the clients that are compared.
struct Truth: Sendable {
    /// By id, the version of every item that is not deleted.
    let living: [String: Timestamp]

    init(living: [String: Timestamp]) { self.living = living }

    /// - Parameters:
    ///   - changedAt: The field with the time of the last change, for a screen that shows values and knows
    ///     of no update time; nil for the update time.
    ///   - isShown: Whether the user is to see a document that is not deleted.
    init(
        _ documents: [Document], changedAt: String? = nil,
        where isShown: (Document) -> Bool = { _ in true }
    ) {
        var living: [String: Timestamp] = [:]
        for document in documents
        where document.fields[ItemFields.deletedAt] == nil && isShown(document) {
            var version = document.updateTime
            if let changedAt, case .timestamp(let time)? = document.fields[changedAt] {
                version = time
            }
            living[document.path.id] = version
        }
        self.living = living
    }

    /// Of those that are not deleted the newest, by their own time and then by id.
    init(newest count: Int, of documents: [Document], at field: String = ItemFields.time) {
        let all = documents.filter { $0.fields[ItemFields.deletedAt] == nil }
            .sorted { ($1.time(field), $1.path) < ($0.time(field), $0.path) }
        self.init(Array(all.prefix(count)))
    }
}

extension Document {
    fileprivate func time(_ field: String) -> Timestamp {
        if case .timestamp(let time)? = fields[field] { time } else { .min }
    }
}

/// How what a client showed differs from what is there. Ids, each once.
struct Difference: Hashable, Sendable {
    /// The server has it, the client showed none of it.
    var missed: Set<String> = []
    var doubled: Set<String> = []
    /// Shown in an old version.
    var outdated: Set<String> = []
    /// Shown, and deleted or not to be seen.
    var deletedShown: Set<String> = []

    init() {}

    init(_ shown: [ShownItem], against truth: Truth) {
        var seen: Set<String> = []
        for item in shown {
            if !seen.insert(item.id).inserted { doubled.insert(item.id) }
            guard let version = truth.living[item.id] else {
                deletedShown.insert(item.id)
                continue
            }
            if version != item.version { outdated.insert(item.id) }
        }
        missed = Set(truth.living.keys).subtracting(seen)
    }

    var isNone: Bool { self == Difference() }
    var count: Int { missed.count + doubled.count + outdated.count + deletedShown.count }

    /// In words, as `3 missed`; none where nothing differs.
    var texts: [String] {
        [
            (missed, "missed"), (doubled, "shown twice"),
            (outdated, outdated.count == 1 ? "edit missed" : "edits missed"),
            (deletedShown, "deleted shown"),
        ].filter { !$0.0.isEmpty }.map { "\(grouped($0.0.count)) \($0.1)" }
    }

    mutating func formUnion(_ other: Difference) {
        missed.formUnion(other.missed)
        doubled.formUnion(other.doubled)
        outdated.formUnion(other.outdated)
        deletedShown.formUnion(other.deletedShown)
    }
}

/// What one client did over all its opens.
struct Tally: Sendable {
    let name: String
    private(set) var opens = 0
    private(set) var bytes = 0
    /// At some open.
    private(set) var difference = Difference()
    /// In milliseconds, of the opens that had one before the server answered.
    private(set) var firstContents: [Double] = []
    /// From the server's meter, at the end.
    var reads = 0

    init(name: String) { self.name = name }

    mutating func record(_ open: ClientOpen, against truth: Truth) {
        opens += 1
        bytes += open.bytes
        if let duration = open.firstContent { firstContents.append(duration.milliseconds) }
        difference.formUnion(Difference(open.shown, against: truth))
    }

    /// Sentences; none where it showed at every open just what was there.
    var complaints: [String] {
        [
            (difference.missed, "missed"), (difference.doubled, "shown twice"),
            (difference.outdated, "shown in an old version"),
            (difference.deletedShown, "shown though deleted"),
        ].filter { !$0.0.isEmpty }.map { ids, what in
            "The client \(name) had \(ids.count) items \(what), as \(ids.min() ?? "")."
        }
    }
}

/// What one client did in one open.
struct ClientOpen: Sendable {
    /// From before the client existed to the first items; nil when there was nothing on disk to show
    /// before the server answered.
    var firstContent: Duration?
    /// Everything it shows once it is up to date.
    var shown: [ShownItem]
    /// Sent and received.
    var bytes: Int
}

extension Duration {
    var milliseconds: Double {
        Double(components.seconds) * 1_000 + Double(components.attoseconds) / 1e15
    }
}
