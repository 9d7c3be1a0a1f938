/// The contents of a disk cache by size and age, without access to a disk. Pure.
///
/// An entry consists of all files of one picture: the record, the bytes, and the small pictures
/// made from them.
struct DiskIndex {
    struct Entry: Hashable {
        /// The sizes of the files in bytes, by name.
        var files: [String: Int]
        /// The time of the last use, in milliseconds since 1970.
        var lastUsed: Int64

        var bytes: Int { files.values.reduce(0, +) }
    }

    /// The time in milliseconds after which an unused entry is removed.
    let maximumAge: Int64
    private var entries: CostCache<PictureID, Entry>

    init(limit: Int, maximumAge: Int64) {
        self.maximumAge = maximumAge
        entries = CostCache(limit: limit)
    }

    var limit: Int { entries.limit }
    var bytes: Int { entries.cost }
    var count: Int { entries.count }
    var ids: some Sequence<PictureID> { entries.keys }

    /// Loads the entries of all files that are found when the cache is opened.
    ///
    /// - Returns: The names of the files to delete: those that are too old or exceed the limit.
    mutating func load(_ found: [PictureID: Entry], now: Int64) -> [String] {
        var gone: [String] = []
        for (id, entry) in found.sorted(by: { $0.value.lastUsed < $1.value.lastUsed }) {
            gone += entries.insert(entry, for: id, cost: entry.bytes).flatMap {
                $0.value.files.keys
            }
        }
        return gone + expire(now: now)
    }

    /// - Returns: The names of the files that were not used for too long. After the clock is set
    ///   back, no file is too old.
    mutating func expire(now: Int64) -> [String] {
        var gone: [String] = []
        while let last = entries.last, now - last.value.lastUsed > maximumAge {
            gone += last.value.files.keys
            _ = entries.remove(last.key)
        }
        return gone
    }

    func entry(_ id: PictureID) -> Entry? { entries.peek(id) }

    /// - Returns: The time of the previous use; nil if the picture is absent.
    mutating func use(_ id: PictureID, now: Int64) -> Int64? {
        guard var entry = entries.value(id) else { return nil }
        let before = entry.lastUsed
        entry.lastUsed = now
        _ = entries.insert(entry, for: id, cost: entry.bytes)
        return before
    }

    /// Adds or replaces files of an entry.
    ///
    /// - Parameter keeping: Returns true for the files of the entry that stay; the others are among
    ///   the names to delete.
    /// - Returns: The names of the files to delete.
    mutating func put(
        _ files: [String: Int], of id: PictureID, now: Int64, keeping: (String) -> Bool
    ) -> [String] {
        var entry = Entry(files: [:], lastUsed: now)
        var gone: [String] = []
        for (name, bytes) in entries.peek(id)?.files ?? [:] where files[name] == nil {
            if keeping(name) { entry.files[name] = bytes } else { gone.append(name) }
        }
        entry.files.merge(files) { _, new in new }
        gone += entries.insert(entry, for: id, cost: entry.bytes).flatMap { $0.value.files.keys }
        return gone
    }

    mutating func remove(_ id: PictureID) -> [String] {
        entries.remove(id).map { Array($0.files.keys) } ?? []
    }

    mutating func trim(to bytes: Int) -> [String] {
        entries.trim(to: bytes).flatMap { $0.value.files.keys }
    }
}
