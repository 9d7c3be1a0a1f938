/// Stores the last calls that ended, in chunks. A change after a copy copies only one chunk.
///
/// The ring has a bound in entries and a bound in bytes. An entry that exceeds a bound removes the
/// oldest entries.
struct EntryRing: Sendable {
    /// The number of entries in a chunk.
    static let chunk = 256
    /// The maximum number of bytes of the kept entries, by ``TrafficEntry/extent``: 50,000 ordinary
    /// calls have about half of it.
    static let maxBytes = 32 << 20

    private let capacity: Int
    private let maxBytes: Int
    /// The chunks; nil for an entry that was removed.
    private var chunks: [[TrafficEntry?]] = []
    /// The number of entries that were ever added.
    /// The number of entries that were ever added.
    private var added = 0
    /// The number of entries that were ever removed.
    private(set) var removed = 0
    /// The bytes of the kept entries.
    private(set) var bytes = 0

    init(capacity: Int, maxBytes: Int = Self.maxBytes) {
        precondition(capacity > 0 && maxBytes > 0)
        self.capacity = capacity
        self.maxBytes = maxBytes
    }

    var count: Int { added - removed }

    /// Adds the newest entry. If there are ``capacity`` entries already, the oldest is dropped.
    /// Adds the newest entry, and removes the oldest while there are too many entries or bytes. The
    /// newest entry always stays.
    mutating func append(_ entry: TrafficEntry) {
        if count == capacity { removeOldest() }
        let (chunk, index) = (added % capacity).quotientAndRemainder(dividingBy: Self.chunk)
        added += 1
        bytes += entry.extent
        if chunk == chunks.count { chunks.append([]) }
        if index == chunks[chunk].count {
            chunks[chunk].append(entry)
        } else {
            chunks[chunk][index] = entry
        }
        while bytes > maxBytes, count > 1 { removeOldest() }
    }

    private mutating func removeOldest() {
        let (chunk, index) = (removed % capacity).quotientAndRemainder(dividingBy: Self.chunk)
        bytes -= chunks[chunk][index]?.extent ?? 0
        chunks[chunk][index] = nil
        removed += 1
    }

    var newestFirst: some Sequence<TrafficEntry> {
        (0..<count).lazy.compactMap { back in
            let place = (added - 1 - back) % capacity
            return chunks[place / Self.chunk][place % Self.chunk]
        }
    }
}

/// Stores the open calls, in shards by their ids. A change after a copy copies only one shard.
struct OpenEntries: Sendable {
    private static let shards = 64

    private var shards: [[Int: TrafficEntry]] = Array(repeating: [:], count: Self.shards)
    private(set) var count = 0

    var entries: [TrafficEntry] { shards.flatMap(\.values) }

    subscript(id: Int) -> TrafficEntry? { shards[id % Self.shards][id] }

    mutating func add(_ entry: TrafficEntry) {
        if shards[entry.id % Self.shards].updateValue(entry, forKey: entry.id) == nil { count += 1 }
    }

    /// - Returns: The result of `body`; nil if no open call has that id.
    mutating func change<Result>(_ id: Int, _ body: (inout TrafficEntry) -> Result?) -> Result? {
        let shard = id % Self.shards
        guard let index = shards[shard].index(forKey: id) else { return nil }
        return body(&shards[shard].values[index])
    }

    mutating func remove(_ id: Int) -> TrafficEntry? {
        let entry = shards[id % Self.shards].removeValue(forKey: id)
        if entry != nil { count -= 1 }
        return entry
    }
}
