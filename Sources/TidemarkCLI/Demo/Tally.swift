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

    init(_ documents: [Document]) {
        var living: [String: Timestamp] = [:]
        for document in documents where document.fields[ItemFields.deletedAt] == nil {
            living[document.path.id] = document.updateTime
        }
        self.living = living
    }
}

/// What one client did over all its opens.
struct Tally: Sendable {
    let name: String
    private(set) var opens = 0
    private(set) var bytes = 0
    /// Items of which at some open the server had one and the client showed none.
    private(set) var missed: Set<String> = []
    /// Items that some open showed more than once.
    private(set) var doubled: Set<String> = []
    /// Items of which some open showed an old version.
    private(set) var outdated: Set<String> = []
    /// Items that some open showed though they were deleted.
    private(set) var deletedShown: Set<String> = []
    private var firstContent: [Duration] = []
    /// From the server's meter, at the end.
    var reads = 0

    init(name: String) { self.name = name }

    mutating func record(_ open: ClientOpen, against truth: Truth) {
        opens += 1
        bytes += open.bytes
        if let duration = open.firstContent { firstContent.append(duration) }
        var shown: Set<String> = []
        for item in open.shown {
            if !shown.insert(item.id).inserted { doubled.insert(item.id) }
            guard let version = truth.living[item.id] else {
                deletedShown.insert(item.id)
                continue
            }
            if version != item.version { outdated.insert(item.id) }
        }
        for id in truth.living.keys where !shown.contains(id) { missed.insert(id) }
    }

    /// Whether it showed at every open just what was there.
    var isFaithful: Bool {
        missed.isEmpty && doubled.isEmpty && outdated.isEmpty && deletedShown.isEmpty
    }

    /// The time by which a share of the opens had their first content, in milliseconds.
    func firstContentMilliseconds(share: Double) -> Double {
        guard !firstContent.isEmpty else { return 0 }
        let sorted = firstContent.sorted()
        let rank = Int((share * Double(sorted.count)).rounded(.up)) - 1
        let duration = sorted[min(max(rank, 0), sorted.count - 1)]
        return Double(duration.components.seconds) * 1_000
            + Double(duration.components.attoseconds) / 1e15
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
