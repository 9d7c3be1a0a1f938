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
    /// Counts the changes, so that a reader can tell whether there is anything new.
    package private(set) var version = 0
    private(set) var forgotten = 0

    init(capacity: Int = 50_000) {
        precondition(capacity > 0)
        self.capacity = capacity
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
        version += 1
        return nextID
    }

    /// Changes a call that goes on; one that has ended stays as it is.
    mutating func update(_ id: Int, _ change: (inout TrafficEntry) -> Void) {
        guard open[id] != nil else { return }
        change(&open[id]!)
        version += 1
    }

    mutating func end(_ id: Int, _ change: (inout TrafficEntry) -> Void) {
        guard var entry = open.removeValue(forKey: id) else { return }
        change(&entry)
        version += 1
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
        version += 1
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
struct TrafficFilter: Hashable, Sendable {
    /// Found in the label, client, method, or what was asked, whatever the case.
    var text: String?
    var failedOnly = false
    var openOnly = false

    func passes(_ entry: TrafficEntry) -> Bool {
        if failedOnly, entry.outcome == nil || entry.outcome == "OK" { return false }
        if openOnly, entry.outcome != nil { return false }
        guard let text = text?.lowercased() else { return true }
        return [entry.label, entry.client, entry.method, entry.asked].contains {
            $0?.lowercased().contains(text) ?? false
        }
    }
}
