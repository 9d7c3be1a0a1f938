package import Foundation

/// Writes a store as LevelDB does: a log, tables on levels, and their list. Checksums, numbers and
/// keys are written here from the facts of the format, apart from the reader.
package struct WrittenStore {
    package struct Change {
        package var key: [UInt8]
        /// The bytes; nil for a deletion.
        package var value: [UInt8]?

        package init(key: [UInt8], value: [UInt8]?) { (self.key, self.value) = (key, value) }
    }

    private struct Entry {
        var key: [UInt8]
        var number: UInt64
        var value: [UInt8]?
    }

    private struct Table {
        var level: Int
        var number: Int
        var size: Int
        var first: [UInt8]
        var last: [UInt8]
        /// The entries; nil for a table whose entries were not kept.
        var entries: [Entry]?
    }

    package let folder: URL
    private var number: UInt64 = 1
    private var nextFile = 3
    private var tables: [Table] = []
    /// The records that are in no table yet, each with the number of its first entry.
    private var waiting: [(first: UInt64, changes: [Change])] = []

    package init(_ folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Adds one record.
    package mutating func write(_ changes: [Change]) {
        waiting.append((number, changes))
        number += UInt64(changes.count)
    }

    /// Makes a table of level 0 from the records that are in no table.
    package mutating func flush(blockSize: Int = 4_096) throws {
        var entries: [Entry] = []
        for (first, changes) in waiting {
            for (index, change) in changes.enumerated() {
                entries.append(
                    Entry(key: change.key, number: first + UInt64(index), value: change.value))
            }
        }
        waiting = []
        try addTable(entries, level: 0, blockSize)
    }

    /// Writes rows into tables of a level, and keeps none in memory: for stores that are larger
    /// than memory. Such a store cannot be compacted.
    ///
    /// - Parameter rows: The keys and values in the order of the keys, each behind all earlier ones
    ///   of the level.
    package mutating func append(
        _ rows: some Sequence<([UInt8], [UInt8])>, toLevel level: Int,
        tableSize: Int = 2 << 20, blockSize: Int = 4_096
    ) throws {
        var part: [Entry] = []
        var size = 0
        func flush() throws {
            try addTable(part, level: level, blockSize, isKept: false)
            (part, size) = ([], 0)
        }
        for (key, value) in rows {
            part.append(Entry(key: key, number: number, value: value))
            number += 1
            size += key.count + value.count
            if size > tableSize { try flush() }
        }
        try flush()
    }

    /// Merges all tables into tables of a level, without overwritten entries.
    package mutating func compact(
        to level: Int, tableSize: Int = 2 << 20, blockSize: Int = 4_096
    ) throws {
        var newest: [[UInt8]: Entry] = [:]
        for entry in tables.flatMap({ $0.entries! })
        where newest[entry.key].map({ $0.number < entry.number }) ?? true {
            newest[entry.key] = entry
        }
        for table in tables { try FileManager.default.removeItem(at: file(table.number, "ldb")) }
        tables = []
        var part: [Entry] = []
        var size = 0
        for entry in newest.values.filter({ $0.value != nil }).sorted(by: Self.isBefore) {
            part.append(entry)
            size += entry.key.count + entry.value!.count
            if size > tableSize {
                try addTable(part, level: level, blockSize)
                (part, size) = ([], 0)
            }
        }
        try addTable(part, level: level, blockSize)
    }

    /// Writes the log, the list of files and its name.
    package mutating func finish() throws {
        let logNumber = take()
        var log = LogBytes()
        for (first, changes) in waiting {
            var record = Self.fixed(first, 8) + Self.fixed(UInt64(changes.count), 4)
            for change in changes {
                record.append(change.value == nil ? 0 : 1)
                record += Self.sized(change.key)
                if let value = change.value { record += Self.sized(value) }
            }
            log.add(record)
        }
        try Data(log.bytes).write(to: file(logNumber, "log"))
        var edit = Self.varint(1) + Self.sized(Array("leveldb.BytewiseComparator".utf8))
        edit += Self.varint(2) + Self.varint(UInt64(logNumber))
        edit += Self.varint(3) + Self.varint(UInt64(nextFile))
        edit += Self.varint(4) + Self.varint(number)
        for table in tables {
            edit += Self.varint(7) + Self.varint(UInt64(table.level))
            edit += Self.varint(UInt64(table.number)) + Self.varint(UInt64(table.size))
            edit += Self.sized(table.first) + Self.sized(table.last)
        }
        var manifest = LogBytes()
        manifest.add(edit)
        try Data(manifest.bytes).write(to: folder.appendingPathComponent("MANIFEST-000002"))
        try Data("MANIFEST-000002\n".utf8).write(to: folder.appendingPathComponent("CURRENT"))
    }

    // MARK: Tables

    private mutating func take() -> Int {
        nextFile += 1
        return nextFile
    }

    private func file(_ number: Int, _ ending: String) -> URL {
        folder.appendingPathComponent(String(format: "%06d.%@", number, ending))
    }

    private static func isBefore(_ left: Entry, _ right: Entry) -> Bool {
        if left.key == right.key { return left.number > right.number }
        return left.key.lexicographicallyPrecedes(right.key)
    }

    private mutating func addTable(
        _ entries: [Entry], level: Int, _ blockSize: Int, isKept: Bool = true
    ) throws {
        if entries.isEmpty { return }
        let sorted = entries.sorted(by: Self.isBefore)
        var bytes: [UInt8] = []
        var index = BlockBytes(restartInterval: 1)
        var block = BlockBytes(restartInterval: 16)
        for (place, entry) in sorted.enumerated() {
            block.add(Self.inner(entry), entry.value ?? [])
            if block.bytes.count < blockSize, place < sorted.count - 1 { continue }
            index.add(Self.inner(entry), Self.append(block.finished, to: &bytes))
            block = BlockBytes(restartInterval: 16)
        }
        let filters = Self.append(BlockBytes(restartInterval: 1).finished, to: &bytes)
        let indexPlace = Self.append(index.finished, to: &bytes)
        var footer = filters + indexPlace
        footer += [UInt8](repeating: 0, count: 40 - footer.count)
        bytes += footer + [0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB]
        let number = take()
        try Data(bytes).write(to: file(number, "ldb"))
        tables.append(
            Table(
                level: level, number: number, size: bytes.count, first: Self.inner(sorted[0]),
                last: Self.inner(sorted[sorted.count - 1]), entries: isKept ? sorted : nil))
    }

    /// - Returns: The place of the block.
    private static func append(_ block: [UInt8], to bytes: inout [UInt8]) -> [UInt8] {
        let place = varint(UInt64(bytes.count)) + varint(UInt64(block.count))
        bytes += block + [0] + fixed(UInt64(CRC.masked(block + [0])), 4)
        return place
    }

    private static func inner(_ entry: Entry) -> [UInt8] {
        entry.key + fixed(entry.number << 8 | (entry.value == nil ? 0 : 1), 8)
    }

    // MARK: Numbers

    package static func varint(_ value: UInt64) -> [UInt8] {
        var (value, bytes) = (value, [UInt8]())
        while value > 127 {
            bytes.append(UInt8(value & 127) | 128)
            value >>= 7
        }
        return bytes + [UInt8(value)]
    }

    package static func sized(_ bytes: [UInt8]) -> [UInt8] { varint(UInt64(bytes.count)) + bytes }

    package static func fixed(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }
}

/// Records in blocks of 32 KiB.
private struct LogBytes {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ record: [UInt8]) {
        var rest = record[...]
        var isFirst = true
        repeat {
            let room = 32_768 - bytes.count % 32_768
            if room < 7 {
                bytes += [UInt8](repeating: 0, count: room)
                continue
            }
            let part = rest.prefix(room - 7)
            rest = rest.dropFirst(part.count)
            let kind: UInt8 = isFirst ? (rest.isEmpty ? 1 : 2) : (rest.isEmpty ? 4 : 3)
            bytes += WrittenStore.fixed(UInt64(CRC.masked([kind] + part)), 4)
            bytes += WrittenStore.fixed(UInt64(part.count), 2) + [kind] + part
            isFirst = false
        } while !rest.isEmpty || isFirst
    }
}

/// The entries of a block. Each key omits the bytes that it shares with the key before it.
private struct BlockBytes {
    let restartInterval: Int
    private(set) var bytes: [UInt8] = []
    private var restarts: [Int] = [0]
    private var last: [UInt8] = []
    private var count = 0

    init(restartInterval: Int) { self.restartInterval = restartInterval }

    mutating func add(_ key: [UInt8], _ value: [UInt8]) {
        var shared = 0
        if count > 0, count % restartInterval == 0 {
            restarts.append(bytes.count)
        } else {
            while shared < min(key.count, last.count), key[shared] == last[shared] { shared += 1 }
        }
        bytes += WrittenStore.varint(UInt64(shared))
        bytes += WrittenStore.varint(UInt64(key.count - shared))
        bytes += WrittenStore.varint(UInt64(value.count)) + key[shared...] + value
        last = key
        count += 1
    }

    var finished: [UInt8] {
        bytes + restarts.flatMap { WrittenStore.fixed(UInt64($0), 4) }
            + WrittenStore.fixed(UInt64(restarts.count), 4)
    }
}

/// CRC-32C, with LevelDB's mask.
private enum CRC {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in
            crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1
        }
    }

    static func masked(_ bytes: [UInt8]) -> UInt32 {
        let crc = table.withUnsafeBufferPointer { table in
            bytes.withUnsafeBufferPointer { bytes in
                var crc = UInt32.max
                for byte in bytes { crc = crc >> 8 ^ table[Int(UInt8(crc & 255) ^ byte)] }
                return ~crc
            }
        }
        return (crc >> 15 | crc << 17) &+ 0xA282_EAD8
    }
}
