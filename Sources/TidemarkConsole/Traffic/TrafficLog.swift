import TidemarkModel

/// The calls and streams that a server has seen, newest last: what is open, and the last that ended.
///
/// A value: it is told what happens, with the time, and asked what it holds.
package struct TrafficLog: Sendable {
    /// Ended calls that are kept; beyond it the oldest are forgotten.
    let capacity: Int
    private var nextID = 1
    /// By id: calls that go on.
    private var open: [Int: TrafficEntry] = [:]
    /// A ring of the calls that ended.
    private var ended: [TrafficEntry] = []
    private var oldest = 0
    private(set) var forgotten = 0
    /// What was billed over time.
    private(set) var costs = CostHistory()
    /// The last database that was asked, and its name: mostly there is one.
    private var lastDatabase: (id: DatabaseID, name: String)?

    init(capacity: Int = 50_000) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    mutating func name(of database: DatabaseID) -> String {
        if let lastDatabase, lastDatabase.id == database { return lastDatabase.name }
        let name = database.name
        lastDatabase = (database, name)
        return name
    }

    /// - Returns: The id, by which the rest is told.
    mutating func begin(
        method: String, database: String, label: String?, client: String?, asked: String,
        at time: Int64
    ) -> Int {
        defer { nextID += 1 }
        open[nextID] = TrafficEntry(
            id: nextID, began: time, method: method, database: database, label: label,
            client: client, asked: asked)
        return nextID
    }

    /// Changes a call that goes on; one that has ended stays as it is.
    mutating func update(_ id: Int, at time: Int64, _ change: (inout TrafficEntry) -> Void) {
        guard let index = open.index(forKey: id) else { return }
        let before = open.values[index].reads
        change(&open.values[index])
        // Most of what happens costs nothing, and then nobody need know whom to count it for.
        let reads = open.values[index].reads - before
        if reads > 0 { costs.add(reads, open.values[index].costKey, at: time) }
    }

    mutating func end(_ id: Int, at time: Int64, _ change: (inout TrafficEntry) -> Void) {
        guard var entry = open.removeValue(forKey: id) else { return }
        let before = entry.reads
        change(&entry)
        if entry.reads > before { costs.add(entry.reads - before, entry.costKey, at: time) }
        if ended.count < capacity {
            ended.append(entry)
            return
        }
        ended[oldest] = entry
        oldest = (oldest + 1) % capacity
        forgotten += 1
    }

    /// Forgets what has ended. What goes on stays.
    mutating func clear() {
        ended = []
        oldest = 0
        forgotten = 0
        costs.clear()
    }

    subscript(id: Int) -> TrafficEntry? { open[id] ?? ended.first { $0.id == id } }

    var openCount: Int { open.count }
    var endedCount: Int { ended.count }

    /// The newest that pass, newest first: open ones among them by when they began.
    ///
    /// - Parameter limit: At most this many.
    package func newest(_ limit: Int, where passes: (TrafficEntry) -> Bool) -> [TrafficEntry] {
        var result: [TrafficEntry] = []
        for index in ended.indices.reversed() {
            let entry = ended[(oldest + index) % ended.count]
            if passes(entry) { result.append(entry) }
            if result.count == limit { break }
        }
        result += open.values.filter(passes)
        result.sort { $0.id > $1.id }
        return Array(result.prefix(limit))
    }
}

/// Which entries the traffic page shows. Nil and empty parts let everything pass.
struct TrafficFilter: Hashable, Sendable, Encodable {
    enum Show: String, Hashable, Sendable, CaseIterable, Encodable {
        case all, open, failed, writes, listens
    }

    /// Found in the label, client, method, or what was asked, whatever the case.
    var text: String?
    var show = Show.all
    /// Reads that an entry has at least.
    var reads = 0

    func passes(_ entry: TrafficEntry) -> Bool {
        if entry.reads < reads { return false }
        switch show {
        case .all: break
        case .open: if entry.outcome != nil { return false }
        case .failed: if entry.outcome == nil || entry.outcome == "OK" { return false }
        case .writes: if entry.writes + entry.deletes == 0 { return false }
        case .listens: if entry.method != "Listen" { return false }
        }
        guard let text = text?.lowercased() else { return true }
        return [entry.label, entry.client, entry.method, entry.asked].contains {
            $0?.lowercased().contains(text) ?? false
        }
    }
}

extension TrafficEntry {
    /// Whom its reads are counted for over time: the collection is the first word of what was asked.
    fileprivate var costKey: CostHistory.Key {
        CostHistory.Key(label: label, client: client, collection: collection)
    }

    /// The collection that it is about, without the ids of documents above it.
    var collection: String {
        // By bytes, which is faster than by characters: it is found for each call.
        let asked = asked.utf8
        var start = asked.startIndex
        if method == "RunAggregationQuery" {
            let words = asked.split(separator: UInt8(ascii: " "))
            if let of = words.lastIndex(where: { $0.elementsEqual("of".utf8) }) {
                guard of + 1 < words.count else { return self.asked }
                start = words[of + 1].startIndex
            }
        }
        let word = asked[start...].drop { $0 == UInt8(ascii: " ") }
            .prefix { $0 != UInt8(ascii: " ") }
        if word.isEmpty { return self.asked }
        let segments = word.split(separator: UInt8(ascii: "/"))
        if segments.first?.elementsEqual("**".utf8) == true { return String(Substring(word)) }
        if segments.count <= 2 { return segments.first.map { String(Substring($0)) } ?? "" }
        return stride(from: 0, to: segments.count, by: 2).map { String(Substring(segments[$0])) }
            .joined(separator: "/*/")
    }
}
