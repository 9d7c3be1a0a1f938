/// The newest value of each key under some prefixes, gathered from all files of a LevelDB folder.
/// Of several entries of a key, the entry with the highest number counts. A deletion is an entry
/// too.
struct StoreRows {
    /// The maximum size of keys and values in bytes. FirebaseFirestore keeps all pending writes in
    /// memory too.
    static let mostBytes = 256 << 20

    private struct Entry {
        var number: UInt64
        /// The value; nil for a deletion.
        var value: [UInt8]?
    }

    let prefixes: [[UInt8]]
    private var entries: [[UInt8]: Entry] = [:]
    private var bytes = 0

    init(prefixes: [[UInt8]]) { self.prefixes = prefixes }

    /// Returns true if a range of keys can contain wanted keys.
    ///
    /// - Parameters:
    ///   - first: The lowest key; nil for the lowest of all.
    ///   - last: The highest one.
    func mayBe(from first: [UInt8]?, through last: [UInt8]) -> Bool {
        prefixes.contains { prefix in
            // The highest key is not below the prefix, and the lowest key is not above all keys
            // with the prefix.
            !last.lexicographicallyPrecedes(prefix)
                && first.map { $0.starts(with: prefix) || $0.lexicographicallyPrecedes(prefix) }
                    ?? true
        }
    }

    /// - Parameters:
    ///   - number: LevelDB's sequence number.
    ///   - value: The value; nil for a deletion.
    mutating func take(
        _ key: [UInt8], number: UInt64, value: (some Collection<UInt8>)?, of file: StoreFile
    ) throws(FirebaseStoreError) {
        guard prefixes.contains(where: key.starts(with:)) else { return }
        if let known = entries[key] {
            if known.number >= number { return }
            bytes -= known.value?.count ?? 0
        } else {
            bytes += key.count
        }
        bytes += value?.count ?? 0
        guard bytes <= Self.mostBytes else { throw file.refuse("too many writes are waiting.") }
        entries[key] = Entry(number: number, value: value.map { Array($0) })
    }

    /// The entries that are not deleted, in the order of their keys.
    var present: [(key: [UInt8], value: [UInt8])] {
        entries.compactMap { key, entry in entry.value.map { (key, $0) } }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
}
