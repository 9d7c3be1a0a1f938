import Foundation

/// Reads a cache of any size in the order of its keys, in bounded memory: the keys of the logs, the
/// indexes of a few tables, and one block of each table that is being read.
///
/// A damaged block or a missing table is noted in ``damage`` and skipped. The reader
/// throws only if a file cannot be read now, or is of another format.
///
/// The store must not change while it is read. Not `Sendable`: one task reads.
final class StoreReader {
    /// The maximum size of the keys of all logs in bytes. LevelDB makes a table of 4 MiB of log; a
    /// larger log ends with one write, for example with a listen's first result.
    static let mostLogBytes = 64 << 20
    /// The maximum number of tables whose indexes are kept. An index has about 40 KiB.
    private static let mostOpenTables = 24

    private let folder: StoreFolder
    private var logs: [StoreLog] = []
    private var logEntries: [LogEntry] = []
    private let chains: [[StoreManifest.Table]]
    private var blocks = RecentBlocks()
    private var open: [UInt64: StoreTable] = [:]
    private var lastUsed: [UInt64] = []
    private(set) var damage = StoreDamage()
    /// True if a log or the manifest ends within a record.
    private(set) var hasTornEnd: Bool
    /// A text that is equal as long as no file of the store changes.
    let digest: String

    /// An entry of a log, whose value the reader reads when it is needed.
    struct LogEntry {
        var key: [UInt8]
        var number: UInt64
        var log: Int
        /// The place of the value; nil for a deletion.
        var place: StoreRecord.Place?
    }

    /// - Parameter prefixes: The prefixes of the keys that will be read.
    init(_ url: URL, under prefixes: [[UInt8]]) throws(FirebaseStoreError) {
        folder = StoreFolder(url)
        let manifest = try folder.manifest()
        hasTornEnd = manifest.hasTornEnd
        chains = Self.chains(of: manifest.tables)
        digest = try folder.digest(of: manifest)
        try readLogs(of: manifest, prefixes)
    }

    /// Tables of level 0 overlap, so each is a chain of its own. Those of a higher level do not.
    private static func chains(of tables: [StoreManifest.Table]) -> [[StoreManifest.Table]] {
        let levels = Dictionary(grouping: tables, by: \.level)
        return levels.sorted { $0.key < $1.key }.flatMap { level, tables in
            level == 0
                ? tables.map { [$0] }
                : [tables.sorted { $0.firstKey.isBefore($1.firstKey) }]
        }
    }

    // MARK: Logs

    private func readLogs(
        of manifest: StoreManifest, _ prefixes: [[UInt8]]
    ) throws(FirebaseStoreError) {
        var bytes = 0
        do throws(FirebaseStoreError) {
            for name in try folder.logs(of: manifest) {
                try readLog(name, prefixes: prefixes, bytes: &bytes)
            }
        } catch {
            try note(error, from: nil, through: nil)
        }
        logEntries.sort { left, right in
            switch left.key.compared(to: right.key) {
            case .ascending: true
            case .descending: false
            case .equal: left.number > right.number
            }
        }
    }

    private func readLog(
        _ name: String, prefixes: [[UInt8]], bytes: inout Int
    ) throws(FirebaseStoreError) {
        let file = try folder.file(name)
        let log = StoreLog(file)
        logs.append(log)
        let index = logs.count - 1
        let isTorn = try log.read(
            keeping: { prefixes.contains(where: $0.starts(with:)) ? .place : .nothing }
        ) { entry throws(FirebaseStoreError) in
            bytes += entry.key.count
            guard bytes <= Self.mostLogBytes else { throw file.refuse("it has too many entries.") }
            logEntries.append(
                LogEntry(key: entry.key, number: entry.number, log: index, place: entry.place))
        }
        if isTorn { hasTornEnd = true }
    }

    /// Notes the keys of a damaged part. Throws every other problem.
    private func note(
        _ problem: FirebaseStoreError, from first: [UInt8]?, through last: [UInt8]?
    ) throws(FirebaseStoreError) {
        switch problem {
        case .damaged: damage.add(problem, from: first, through: last)
        case .notAStore, .unreadable, .unknownForm: throw problem
        }
    }

    // MARK: Entries

    /// Returns the keys under a prefix with their values, in order.
    ///
    /// - Parameter start: The first key; nil for the first under the prefix.
    func cursor(under prefix: [UInt8], from start: [UInt8]? = nil) -> StoreCursor {
        StoreCursor(self, prefix: prefix, from: start ?? prefix)
    }

    /// Returns the value of a key; nil if there is none, or if it is damaged.
    func value(of key: [UInt8]) throws(FirebaseStoreError) -> [UInt8]? {
        var cursor = StoreCursor(self, prefix: key, from: key)
        guard let found = try cursor.next(), found.key == key else { return nil }
        return found.value
    }

    var chainCount: Int { chains.count }
    var logEntryCount: Int { logEntries.count }

    func logEntry(_ index: Int) -> LogEntry { logEntries[index] }

    /// Returns the number of the first entry of the logs that is not before `key`.
    func logPlace(of key: [UInt8]) -> Int {
        var (low, high) = (0, logEntries.count)
        while low < high {
            let middle = (low + high) / 2
            if logEntries[middle].key.isBefore(key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// Returns the value of an entry of a log; nil if the file is damaged since.
    func value(of entry: LogEntry) throws(FirebaseStoreError) -> [UInt8]? {
        guard let place = entry.place else { return nil }
        do throws(FirebaseStoreError) { return try logs[entry.log].value(at: place) } catch {
            try note(error, from: entry.key, through: entry.key)
            return nil
        }
    }

    // MARK: Tables

    /// The number of the table of a chain that can contain `key` or later keys.
    func table(ofChain chain: Int, from key: [UInt8]) -> Int {
        let tables = chains[chain]
        var (low, high) = (0, tables.count)
        while low < high {
            let middle = (low + high) / 2
            if tables[middle].lastKey.isBefore(key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// Returns the number of the first block of a table that can contain `key` or later keys.
    func block(ofTable table: Int, chain: Int, from key: [UInt8]) throws(FirebaseStoreError) -> Int
    {
        try opened(chains[chain][table])?.block(from: key) ?? 0
    }

    /// Returns the entries of a block: empty if it is damaged, nil behind the last block of the
    /// last table. At the end of a table, continues with the next one.
    func entries(
        ofChain chain: Int, table: inout Int, block: inout Int
    ) throws(FirebaseStoreError) -> [StoreTable.Entry]? {
        while table < chains[chain].count {
            let row = chains[chain][table]
            guard let opened = try opened(row), block < opened.lastKeys.count else {
                (table, block) = (table + 1, 0)
                continue
            }
            if let known = blocks.entries(ofTable: row.number, block: block) { return known }
            do throws(FirebaseStoreError) {
                let entries = try opened.entries(ofBlock: block)
                blocks.keep(entries, ofTable: row.number, block: block)
                return entries
            } catch {
                let first = block == 0 ? row.firstKey : opened.lastKeys[block - 1]
                try note(error, from: first, through: opened.lastKeys[block])
                return []
            }
        }
        return nil
    }

    /// Returns true if the table can have no key under a prefix from here on.
    func isBehind(_ prefix: [UInt8], chain: Int, table: Int) -> Bool {
        guard table < chains[chain].count else { return true }
        let first = chains[chain][table].firstKey
        return prefix.isBefore(first) && !first.starts(with: prefix)
    }

    /// Returns a table; nil if it is missing or its index is damaged.
    private func opened(_ row: StoreManifest.Table) throws(FirebaseStoreError) -> StoreTable? {
        if let known = open[row.number] {
            if lastUsed.last != row.number {
                lastUsed.removeAll { $0 == row.number }
                lastUsed.append(row.number)
            }
            return known
        }
        if damagedTables.contains(row.number) { return nil }
        do throws(FirebaseStoreError) {
            let table = try StoreTable(try folder.file(of: row))
            if lastUsed.count >= Self.mostOpenTables { open[lastUsed.removeFirst()] = nil }
            open[row.number] = table
            lastUsed.append(row.number)
            return table
        } catch {
            damagedTables.insert(row.number)
            try note(error, from: row.firstKey, through: row.lastKey)
            return nil
        }
    }

    private var damagedTables: Set<UInt64> = []
}
