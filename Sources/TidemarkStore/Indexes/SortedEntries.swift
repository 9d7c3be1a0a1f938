import TidemarkModel

/// The entries of an index in key order, before they are written. They are sorted in runs, and the
/// runs are merged while they are read, so that no step takes long.
///
/// All keys are in one buffer, so sorting moves only numbers and changes no reference counts.
struct SortedEntries {
    struct Entry {
        fileprivate let start: Int
        fileprivate let end: Int
        /// The row of the document.
        let row: Int64
        /// The part of the key that usually decides: a smaller digest means a smaller key.
        fileprivate var digest: UInt64 = 0
    }

    private var keys = KeyWriter()
    private var entries: [Entry] = []
    /// The common prefix of the first run's keys, as a range of `keys`; nil before that run.
    private var head: Range<Int>?
    /// The remaining entries of each run, as ranges of `entries`.
    private var runs: [Range<Int>] = []
    /// The start of the current run.
    private var runStart = 0
    /// True if `runs` is a heap, ordered by the next entries.
    private var isHeap = false

    /// The approximate memory in bytes.
    var byteCount: Int { keys.bytes.count + 64 * entries.count }

    /// Adds an entry, unless `write` returns false because there is no key.
    ///
    /// - Parameter write: Appends the key to the writer.
    mutating func add(
        _ row: Int64, _ write: (inout KeyWriter) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let start = keys.bytes.count
        guard try write(&keys) else {
            keys.bytes.removeLast(keys.bytes.count - start)
            return
        }
        entries.append(Entry(start: start, end: keys.bytes.count, row: row))
    }

    /// The number of entries since the last run.
    var unsorted: Int { entries.count - runStart }

    /// Sorts the entries added since the last run.
    mutating func endRun() {
        if runStart == entries.count { return }
        keys.bytes.withUnsafeBufferPointer { keys in
            let run = runStart..<entries.count
            let head = head ?? Self.commonHead(entries[run], keys)
            self.head = head
            for index in run {
                let entry = entries[index]
                entries[index].digest = Self.digest(
                    Keys(rebasing: keys[entry.start..<entry.end]), Keys(rebasing: keys[head]))
            }
            entries[run].sort { Self.precedes($0, b: $1, keys: keys) }
        }
        runs.append(runStart..<entries.count)
        runStart = entries.count
        isHeap = false
    }

    mutating func popLeast() -> Entry? {
        guard !runs.isEmpty else { return nil }
        return keys.bytes.withUnsafeBufferPointer { keys in
            entries.withUnsafeBufferPointer { entries in
                Self.popLeast(&runs, isHeap: &isHeap, entries: entries, keys: keys)
            }
        }
    }

    /// Passes access to the keys of entries, without copies.
    func withKeys<E>(
        _ body: (_ key: (Entry) -> UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        var result = Result<Void, E>.success(())
        keys.bytes.withUnsafeBytes { keys in
            do throws(E) {
                try body { UnsafeRawBufferPointer(rebasing: keys[$0.start..<$0.end]) }
            } catch { result = .failure(error) }
        }
        try result.get()
    }
}

// MARK: - Order

extension SortedEntries {
    private typealias Entries = UnsafeBufferPointer<Entry>
    private typealias Keys = UnsafeBufferPointer<UInt8>

    private static func precedes(_ a: Entry, b: Entry, keys: Keys) -> Bool {
        if a.digest != b.digest { return a.digest < b.digest }
        return Comparison.bytes(
            Keys(rebasing: keys[a.start..<a.end]), Keys(rebasing: keys[b.start..<b.end]))
            == .ascending
    }

    private static func commonHead(_ entries: ArraySlice<Entry>, _ keys: Keys) -> Range<Int> {
        guard let first = entries.first else { return 0..<0 }
        var count = first.end - first.start
        for entry in entries.dropFirst() {
            count = min(count, entry.end - entry.start)
            var same = 0
            while same < count, keys[first.start + same] == keys[entry.start + same] { same += 1 }
            count = same
        }
        return first.start..<(first.start + count)
    }

    /// Returns the eight bytes after the common prefix. A key without that prefix gets the least or
    /// greatest value.
    private static func digest(_ key: Keys, _ head: Keys) -> UInt64 {
        switch Comparison.bytes(Keys(rebasing: key.prefix(head.count)), head) {
        case .ascending: return 0
        case .descending: return .max
        case .equal: break
        }
        let tail = UnsafeRawBufferPointer(Keys(rebasing: key.dropFirst(head.count)))
        if tail.count >= 8 { return tail.loadUnaligned(as: UInt64.self).bigEndian }
        // Missing bytes count as zeros, which sort after nothing or equal to it.
        return tail.reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - tail.count))
    }
}

// MARK: - The heap of runs

extension SortedEntries {
    private static func popLeast(
        _ runs: inout [Range<Int>], isHeap: inout Bool, entries: Entries, keys: Keys
    ) -> Entry {
        if !isHeap {
            for root in (0..<runs.count / 2).reversed() {
                siftDown(root, runs: &runs, entries: entries, keys: keys)
            }
            isHeap = true
        }
        let least = entries[runs[0].lowerBound]
        runs[0] = runs[0].dropFirst()
        if runs[0].isEmpty {
            runs.swapAt(0, runs.count - 1)
            runs.removeLast()
        }
        siftDown(0, runs: &runs, entries: entries, keys: keys)
        return least
    }

    private static func siftDown(
        _ start: Int, runs: inout [Range<Int>], entries: Entries, keys: Keys
    ) {
        func precedes(_ a: Int, _ b: Int) -> Bool {
            Self.precedes(entries[runs[a].lowerBound], b: entries[runs[b].lowerBound], keys: keys)
        }
        var root = start
        while 2 * root + 1 < runs.count {
            var child = 2 * root + 1
            if child + 1 < runs.count, precedes(child + 1, child) { child += 1 }
            guard precedes(child, root) else { return }
            runs.swapAt(root, child)
            root = child
        }
    }
}
