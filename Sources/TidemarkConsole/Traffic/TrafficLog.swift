import TidemarkModel

/// The calls and streams of a server, newest last: the open ones, and the last that ended.
///
/// The log is a value. Its methods record events with their times, and return entries. A copy
/// shares its entries with the original, in small parts; a later change copies only the part that
/// it changes.
package struct TrafficLog: Sendable {
    /// The maximum number of ended calls. Above it, the oldest are dropped.
    /// The maximum number of kept ended calls; ``EntryRing/maxBytes`` bounds their bytes. Above
    /// either, the oldest are forgotten.
    let capacity: Int
    private var nextID = 1
    private var open = OpenEntries()
    private var ended: EntryRing
    /// The number of ended calls that were forgotten.
    var forgotten: Int { ended.removed }
    /// The bytes of the kept ended calls.
    var endedBytes: Int { ended.bytes }
    /// The billed reads over time.
    private(set) var costs = CostHistory()
    /// The last database and its name. Most servers have only one.
    private var lastDatabase: (id: DatabaseID, name: String)?
    /// The documents of the deliveries under way, by entry.
    private var deliveries: [Int: String] = [:]

    init(capacity: Int = 50_000) {
        precondition(capacity > 0)
        self.capacity = capacity
        ended = EntryRing(capacity: capacity)
    }

    mutating func name(of database: DatabaseID) -> String {
        if let lastDatabase, lastDatabase.id == database { return lastDatabase.name }
        let name = database.name
        lastDatabase = (database, name)
        return name
    }

    /// - Parameter canBeFunction: True if the caller has the rights of a function.
    /// - Returns: The id of the call for later events.
    mutating func begin(
        method: String, database: String, label: String?, client: String?, asked: String,
        canBeFunction: Bool = false, at time: Int64
    ) -> Int {
        defer { nextID += 1 }
        var entry = TrafficEntry(
            id: nextID, began: time, method: method, database: database.cut,
            label: label?.cut, client: client?.cut, asked: asked.cut)
        if canBeFunction { entry.links.cause = likelyCause(of: asked) }
        open.add(entry)
        return nextID
    }

    /// Returns the delivery during which a function can have made a call: the only one under way,
    /// else the only one whose document the call names.
    private func likelyCause(of asked: String) -> Int? {
        if deliveries.count < 2 { return deliveries.keys.first }
        let words = Set(asked.split(separator: " ").map(String.init))
        let named = deliveries.filter { words.contains($0.value) }
        return named.count == 1 ? named.keys.first : nil
    }

    /// - Returns: The id of the delivery for its end.
    mutating func beginDelivery(
        of event: TrafficEvent, to key: String, change: String, database: String, at time: Int64
    ) -> Int {
        let id = begin(
            method: TrafficEntry.delivery, database: database, label: nil,
            client: "function \(key)", asked: "\(event.document) \(change)", at: time)
        update(id, at: time) { entry in
            entry.links.event = event
            entry.documents = 1
            entry.messages = 1
        }
        deliveries[id] = event.document
        return id
    }

    mutating func endDelivery(_ id: Int, at time: Int64, _ change: (inout TrafficEntry) -> Void) {
        deliveries[id] = nil
        end(id, at: time, change)
    }

    /// Changes an open call. An ended call is not changed.
    mutating func update(_ id: Int, at time: Int64, _ change: (inout TrafficEntry) -> Void) {
        // Most events have no cost. The key of the cost is then not needed.
        let billed = open.change(id) { entry -> (reads: Int, key: CostHistory.Key)? in
            let before = entry.reads
            change(&entry)
            return entry.reads > before ? (entry.reads - before, entry.costKey) : nil
        }
        if let (reads, key) = billed { costs.add(reads, key, at: time) }
    }

    mutating func end(_ id: Int, at time: Int64, _ change: (inout TrafficEntry) -> Void) {
        guard var entry = open.remove(id) else { return }
        let before = entry.reads
        change(&entry)
        if entry.reads > before { costs.add(entry.reads - before, entry.costKey, at: time) }
        ended.append(entry)
    }

    /// Removes the ended calls and the history of costs. Open calls remain.
    mutating func clear() {
        ended = EntryRing(capacity: capacity)
        costs.clear()
    }

    /// Returns the call with that id; nil if the log does not contain it. Ended calls are searched
    /// from the newest.
    subscript(id: Int) -> TrafficEntry? { open[id] ?? ended.newestFirst.first { $0.id == id } }

    var openCount: Int { open.count }
    var endedCount: Int { ended.count }

    /// Returns the newest entries that pass, newest first, ordered by their begin.
    ///
    /// - Parameter limit: The maximum number of entries.
    package func newest(_ limit: Int, where passes: (TrafficEntry) -> Bool) -> [TrafficEntry] {
        var result: [TrafficEntry] = []
        for entry in ended.newestFirst {
            if passes(entry) { result.append(entry) }
            if result.count == limit { break }
        }
        return Self.merged(result, open: open.entries.filter(passes), limit: limit)
    }

    /// Performs the same search in the background: it yields to other tasks after each ``slice`` of
    /// entries.
    func newest(_ limit: Int, passing filter: TrafficFilter) async -> [TrafficEntry] {
        var result: [TrafficEntry] = []
        for (index, entry) in ended.newestFirst.enumerated() {
            if index % Self.slice == Self.slice - 1 { await Task.yield() }
            if filter.passes(entry) { result.append(entry) }
            if result.count == limit || Task.isCancelled { break }
        }
        return Self.merged(result, open: open.entries.filter(filter.passes), limit: limit)
    }

    /// The number of entries that are searched before the task yields.
    static let slice = 256

    private static func merged(
        _ ended: [TrafficEntry], open: [TrafficEntry], limit: Int
    ) -> [TrafficEntry] {
        Array((ended + open).sorted { $0.id > $1.id }.prefix(limit))
    }
}

extension TrafficEntry {
    /// The key under which the reads are counted over time.
    fileprivate var costKey: CostHistory.Key {
        CostHistory.Key(label: label, client: client, collection: collection)
    }

    /// The collection of the call, without the ids of the documents above it.
    var collection: String {
        // The search uses bytes, because it runs for each call and characters are slower.
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
