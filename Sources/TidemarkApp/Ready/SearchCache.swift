import Tidemark

/// The results of earlier searches, by prefix. Pure; it is told the time.
///
/// A prefix whose results are all there answers for every longer one: "an" with 12 of at most 20 holds
/// everything that "ann" would find. Old results go after ``lifetime``, and the one used the longest ago
/// when there are more than ``capacity``.
struct SearchCache<Row: Sendable>: Sendable {
    struct Answer: Sendable {
        var rows: [Row]
        /// Whether these are all there are.
        var isComplete: Bool
        /// Since the server was asked.
        var age: Duration
    }

    private struct Entry {
        let rows: [Row]
        let isComplete: Bool
        let time: Duration
        var lastUse: Int
    }

    let lifetime: Duration
    let capacity: Int
    private let text: @Sendable (Row) -> String
    private var entries: [String: Entry] = [:]
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
    mutating func answer(_ prefix: String, limit: Int, at now: Duration) -> Answer? {
        entries = entries.filter { now - $0.value.time < lifetime }
        if let answer = use(prefix, prefix, limit, now) { return answer }
        var shorter = Substring(prefix)
        while !shorter.isEmpty {
            shorter = shorter.dropLast()
            let key = String(shorter)
            guard entries[key]?.isComplete == true else { continue }
            return use(key, prefix, limit, now)
        }
        return nil
    }

    private mutating func use(
        _ key: String, _ prefix: String, _ limit: Int, _ now: Duration
    ) -> Answer? {
        guard var entry = entries[key] else { return nil }
        uses += 1
        entry.lastUse = uses
        entries[key] = entry
        let rows = entry.rows.filter { text($0).hasBytePrefix(prefix) }
        return Answer(
            rows: Array(rows.prefix(limit)), isComplete: entry.isComplete, age: now - entry.time)
    }

    mutating func store(_ prefix: String, _ rows: [Row], isComplete: Bool, at now: Duration) {
        uses += 1
        entries[prefix] = Entry(rows: rows, isComplete: isComplete, time: now, lastUse: uses)
        while entries.count > capacity,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries[oldest.key] = nil
        }
    }

    mutating func removeAll() { entries = [:] }
}
