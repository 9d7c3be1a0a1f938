/// Walks over the keys under a prefix in order. Of several entries of a key in all files, the entry
/// with the highest number counts. A deletion is an entry too.
struct StoreCursor {
    private struct Chain {
        var number: Int
        var table: Int
        var block: Int
        var entries: [StoreTable.Entry] = []
        var position = 0
        var isAtEnd = false

        var entry: StoreTable.Entry? { isAtEnd ? nil : entries[position] }
    }

    private let reader: StoreReader
    private let prefix: [UInt8]
    private let start: [UInt8]
    private var chains: [Chain] = []
    private var log: Int
    private var isStarted = false

    init(_ reader: StoreReader, prefix: [UInt8], from start: [UInt8]) {
        self.reader = reader
        self.prefix = prefix
        self.start = start
        log = reader.logPlace(of: start)
    }

    /// Returns the next key that is not deleted, and its value.
    ///
    /// - Throws: ``FirebaseStoreError/unreadable(file:reason:)`` and
    ///   ``FirebaseStoreError/unknownForm(file:problem:)``. Damage is skipped and noted in the
    ///   reader.
    mutating func next() throws(FirebaseStoreError) -> (key: [UInt8], value: [UInt8])? {
        if !isStarted { try begin() }
        while let key = lowestKey() {
            guard key.starts(with: prefix) else { return nil }
            if let value = try newestValue(of: key) { return (key, value) }
        }
        return nil
    }

    private mutating func begin() throws(FirebaseStoreError) {
        isStarted = true
        for number in 0..<reader.chainCount {
            let table = reader.table(ofChain: number, from: start)
            var chain = Chain(number: number, table: table, block: 0)
            if reader.isBehind(prefix, chain: number, table: table) { continue }
            chain.block = try reader.block(ofTable: table, chain: number, from: start)
            try load(&chain)
            while let entry = chain.entry, entry.key.isBefore(start) {
                try advance(&chain)
            }
            if !chain.isAtEnd { chains.append(chain) }
        }
    }

    /// Loads the next block that has entries.
    private func load(_ chain: inout Chain) throws(FirebaseStoreError) {
        chain.position = 0
        while true {
            if reader.isBehind(prefix, chain: chain.number, table: chain.table) { break }
            guard
                let entries = try reader.entries(
                    ofChain: chain.number, table: &chain.table, block: &chain.block)
            else { break }
            if !entries.isEmpty {
                chain.entries = entries
                return
            }
            chain.block += 1
        }
        chain.entries = []
        chain.isAtEnd = true
    }

    private func advance(_ chain: inout Chain) throws(FirebaseStoreError) {
        chain.position += 1
        guard chain.position == chain.entries.count else { return }
        chain.block += 1
        try load(&chain)
    }

    private func lowestKey() -> [UInt8]? {
        var lowest = log < reader.logEntryCount ? reader.logEntry(log).key : nil
        for chain in chains {
            guard let key = chain.entry?.key else { continue }
            if lowest.map({ key.isBefore($0) }) ?? true { lowest = key }
        }
        return lowest
    }

    /// Returns the value with the highest number, and passes all entries of the key.
    private mutating func newestValue(of key: [UInt8]) throws(FirebaseStoreError) -> [UInt8]? {
        var newest: (number: UInt64, value: [UInt8]?)?
        for index in chains.indices {
            while let entry = chains[index].entry, entry.key == key {
                if newest.map({ $0.number < entry.number }) ?? true {
                    newest = (entry.number, entry.value)
                }
                try advance(&chains[index])
            }
        }
        var newestInLog: StoreReader.LogEntry?
        while log < reader.logEntryCount {
            let entry = reader.logEntry(log)
            guard entry.key == key else { break }
            if newest.map({ $0.number < entry.number }) ?? true {
                newest = (entry.number, nil)
                newestInLog = entry
            }
            log += 1
        }
        if let newestInLog { return try reader.value(of: newestInLog) }
        return newest?.value
    }
}
