import TidemarkModel

/// An item that a client showed, and the version that it showed.
struct ShownItem: Hashable, Sendable {
    let id: String
    let version: Timestamp
}

/// The true content: a full read of the server by none of the compared clients.
struct Truth: Sendable {
    /// The version of every item that is not deleted, by id.
    let living: [String: Timestamp]

    init(living: [String: Timestamp]) { self.living = living }

    /// - Parameters:
    ///   - changedAt: The field with the time of the last change, for a screen that shows values
    ///     and does not know the update time; nil for the update time.
    ///   - isShown: Returns true if the user may see a document that is not deleted.
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

    /// Keeps the newest `count` documents that are not deleted, by their own time and then by path.
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

/// The differences between the items that a client showed and the true content. Each id occurs once
/// in a set.
struct Difference: Hashable, Sendable {
    /// Items that the server has and the client did not show.
    var missed: Set<String> = []
    var doubled: Set<String> = []
    /// Items shown in an old version.
    var outdated: Set<String> = []
    /// Items shown although they are deleted or hidden from the user.
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

    /// The differences in words, such as `3 missed`; empty if there are none.
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

/// The results of one client over all its opens.
struct Tally: Sendable {
    let name: String
    private(set) var opens = 0
    private(set) var bytes = 0
    /// The differences at any of the opens.
    private(set) var difference = Difference()
    /// The times to the first content in milliseconds, only for opens with content before the
    /// server answered.
    private(set) var firstContents: [Double] = []
    /// The number of reads by the server's meter, set at the end.
    var reads = 0

    init(name: String) { self.name = name }

    mutating func record(_ open: ClientOpen, against truth: Truth) {
        opens += 1
        bytes += open.bytes
        if let duration = open.firstContent { firstContents.append(duration.milliseconds) }
        difference.formUnion(Difference(open.shown, against: truth))
    }

    /// The failed requirements as sentences; empty if the client showed the true content at every
    /// open.
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

/// The result of one open by one client.
struct ClientOpen: Sendable {
    /// The time from before the client exists to the first items; nil if the disk had none to show
    /// before the server answered.
    var firstContent: Duration?
    /// The items on the screen after it is up to date.
    var shown: [ShownItem]
    /// The number of sent and received bytes.
    var bytes: Int
}

extension Duration {
    var milliseconds: Double {
        Double(components.seconds) * 1_000 + Double(components.attoseconds) / 1e15
    }
}
