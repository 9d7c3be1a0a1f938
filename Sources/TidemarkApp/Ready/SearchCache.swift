import Tidemark

/// The results of earlier searches, by prefix. The cache is pure: callers pass the time.
///
/// A prefix with complete results answers every longer prefix: "an" with 12 of at most 20 results
/// contains every result of "ann". Results count for ``lifetime``; older results serve when the
/// server is unreachable. Above ``capacity`` the least recently used prefix is removed.
struct SearchCache<Row: Sendable>: Sendable {
    struct Answer: Sendable {
        var rows: [Row]
        /// True if there are no further rows.
        var isComplete: Bool
        /// The time since the server was asked.
        var age: Duration
    }

    struct Entry: Sendable {
        let rows: [Row]
        let isComplete: Bool
        /// The time of the server's request.
        let time: Duration
        fileprivate var lastUse: Int
    }

    let lifetime: Duration
    let capacity: Int
    private let text: @Sendable (Row) -> String
    private var entries: [ByteString: Entry] = [:]
    private var uses = 0

    /// - Parameters:
    ///   - lifetime: The duration for which results are valid.
    ///   - capacity: The maximum number of kept prefixes; positive.
    ///   - text: Returns the text by which a row is found, normalised.
    init(lifetime: Duration, capacity: Int, text: @escaping @Sendable (Row) -> String) {
        precondition(capacity > 0 && lifetime >= .zero)
        self.lifetime = lifetime
        self.capacity = capacity
        self.text = text
    }

    var count: Int { entries.count }

    /// - Parameters:
    ///   - prefix: The prefix, normalised.
    ///   - limit: The maximum number of rows.
    ///   - isAnyAge: True to accept results that are older than ``lifetime``.
    mutating func answer(
        _ prefix: String, limit: Int, at now: Duration, isAnyAge: Bool = false
    ) -> Answer? {
        let oldest = isAnyAge ? Duration.seconds(Int64.max / 4) : lifetime
        let isGood = { (entry: Entry) in now - entry.time < oldest }
        if let entry = entries[ByteString(prefix)], isGood(entry) {
            return use(prefix, prefix: prefix, limit: limit, now: now)
        }
        var shorter = Substring(prefix)
        while !shorter.isEmpty {
            shorter = shorter.dropLast()
            let key = String(shorter)
            guard let entry = entries[ByteString(key)], entry.isComplete, isGood(entry) else {
                continue
            }
            return use(key, prefix: prefix, limit: limit, now: now)
        }
        return nil
    }

    /// Returns the entries, the most recently used first, up to a total number of rows.
    func newest(rows count: Int) -> [(prefix: String, entry: Entry)] {
        var left = count
        var result: [(prefix: String, entry: Entry)] = []
        for (prefix, entry) in entries.sorted(by: { $0.value.lastUse > $1.value.lastUse }) {
            left -= max(1, entry.rows.count)
            guard left >= 0 else { break }
            result.append((prefix.text, entry))
        }
        return result
    }

    private mutating func use(
        _ key: String, prefix: String, limit: Int, now: Duration
    ) -> Answer? {
        guard var entry = entries[ByteString(key)] else { return nil }
        uses += 1
        entry.lastUse = uses
        entries[ByteString(key)] = entry
        let rows = entry.rows.filter { text($0).hasBytePrefix(prefix) }
        return Answer(
            rows: Array(rows.prefix(limit)), isComplete: entry.isComplete, age: now - entry.time)
    }

    mutating func store(_ prefix: String, _ rows: [Row], isComplete: Bool, at now: Duration) {
        uses += 1
        entries[ByteString(prefix)] = Entry(
            rows: rows, isComplete: isComplete, time: now, lastUse: uses)
        while entries.count > capacity,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries[oldest.key] = nil
        }
    }

    mutating func removeAll() { entries = [:] }
}
