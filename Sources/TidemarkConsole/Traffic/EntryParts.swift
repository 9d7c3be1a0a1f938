/// Stores the last calls that ended, in chunks. A change after a copy copies only one chunk.
struct EntryRing: Sendable {
    /// The number of entries in a chunk.
    static let chunk = 256

    private let capacity: Int
    private var chunks: [[TrafficEntry]] = []
    /// The number of entries that were ever added.
    private var added = 0

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    var count: Int { min(added, capacity) }

    /// Adds the newest entry. If there are ``capacity`` entries already, the oldest is dropped.
    mutating func append(_ entry: TrafficEntry) {
        let place = added % capacity
        added += 1
        let (chunk, index) = place.quotientAndRemainder(dividingBy: Self.chunk)
        if chunk == chunks.count { chunks.append([]) }
        if index == chunks[chunk].count {
            chunks[chunk].append(entry)
        } else {
            chunks[chunk][index] = entry
        }
    }

    var newestFirst: some Sequence<TrafficEntry> {
        (0..<count).lazy.map { back in
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
