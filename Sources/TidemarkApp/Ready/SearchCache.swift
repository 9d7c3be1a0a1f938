import Tidemark

/// The results of earlier searches, by prefix. Pure; it is told the time.
///
/// A prefix whose results are all there answers for every longer one: "an" with 12 of at most 20 holds
/// everything that "ann" would find. Results count for ``lifetime``; older ones are for when the server is
/// out of reach. Of more than ``capacity`` the one used the longest ago goes.
struct SearchCache<Row: Sendable>: Sendable {
    struct Answer: Sendable {
        var rows: [Row]
        /// Whether these are all there are.
        var isComplete: Bool
        /// Since the server was asked.
        var age: Duration
    }

    struct Entry: Sendable {
        let rows: [Row]
        let isComplete: Bool
        /// When the server was asked.
        let time: Duration
        fileprivate var lastUse: Int
    }

    let lifetime: Duration
    let capacity: Int
    private let text: @Sendable (Row) -> String
    private var entries: [ByteString: Entry] = [:]
    private var uses = 0

    /// - Parameters:
    ///   - lifetime: How long results are good for.
    ///   - capacity: Prefixes that are kept; positive.
    ///   - text: What a row is found by, normalised.
    init(lifetime: Duration, capacity: Int, text: @escaping @Sendable (Row) -> String) {
        precondition(capacity > 0 && lifetime >= .zero)
        self.lifetime = lifetime
        self.capacity = capacity
        self.text = text
    }

    var count: Int { entries.count }

    /// - Parameters:
    ///   - prefix: Normalised.
    ///   - limit: Rows at the most.
    ///   - isAnyAge: Whether results count that are older than ``lifetime``.
    mutating func answer(
        _ prefix: String, limit: Int, at now: Duration, isAnyAge: Bool = false
    ) -> Answer? {
        let oldest = isAnyAge ? Duration.seconds(Int64.max / 4) : lifetime
        let isGood = { (entry: Entry) in now - entry.time < oldest }
        if let entry = entries[ByteString(prefix)], isGood(entry) {
            return use(prefix, prefix, limit, now)
        }
        var shorter = Substring(prefix)
        while !shorter.isEmpty {
            shorter = shorter.dropLast()
            let key = String(shorter)
            guard let entry = entries[ByteString(key)], entry.isComplete, isGood(entry) else {
                continue
            }
            return use(key, prefix, limit, now)
        }
        return nil
    }

    /// What is known, the prefix used last first, up to so many rows together.
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
        _ key: String, _ prefix: String, _ limit: Int, _ now: Duration
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
