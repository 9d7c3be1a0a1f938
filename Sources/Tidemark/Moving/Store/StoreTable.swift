/// A sorted table of LevelDB: blocks of entries, an index of the blocks, and a footer with the
/// position of the index. Each block has a checksum. Blocks without wanted keys are not read.
struct StoreTable {
    private static let footerSize = 48
    private static let magic: [UInt8] = [0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB]
    /// The kind of a block, and its checksum.
    private static let trailerSize = 5
    /// The maximum size of a block, in bytes. A block ends behind the entry that makes it larger
    /// than 4 KiB, and an entry holds at most one batch of writes.
    private static let largestBlock = 64 << 20

    private struct Place {
        var offset: Int
        var size: Int

        init(_ reader: inout WireReader) throws(CodecError) {
            guard let offset = Int(exactly: try reader.varint()),
                let size = Int(exactly: try reader.varint()), size <= StoreTable.largestBlock
            else { throw .malformed }
            (self.offset, self.size) = (offset, size)
        }
    }

    /// An entry of a block.
    struct Entry {
        var key: [UInt8]
        /// LevelDB's sequence number.
        var number: UInt64
        /// The value; nil for a deletion.
        var value: [UInt8]?
    }

    private let file: StoreFile
    /// The places of the blocks, in the order of their keys.
    private var places: [Place] = []
    /// For each block, a key that is at least its last key, and below the first key of the next
    /// block.
    private(set) var lastKeys: [[UInt8]] = []

    /// Reads the index.
    init(_ file: StoreFile) throws(FirebaseStoreError) {
        self.file = file
        guard file.size >= Self.footerSize else { throw file.corrupted("it has no end.") }
        let footer = try file.bytes(at: file.size - Self.footerSize, count: Self.footerSize)
        guard footer.suffix(Self.magic.count).elementsEqual(Self.magic) else {
            throw file.corrupted("it does not end as a table does.")
        }
        let index = try file.parse(footer, or: file.corrupted("its end cannot be read.")) {
            reader throws(CodecError) in
            _ = try Place(&reader)
            return try Place(&reader)
        }
        for entry in try StoreBlock(try block(at: index), of: file).entries {
            lastKeys.append(try internalKey(entry.key).user)
            places.append(
                try file.parse(entry.value, or: file.corrupted("its index cannot be read.")) {
                    reader throws(CodecError) in try Place(&reader)
                })
        }
    }

    /// Passes the entries with wanted keys to `rows`.
    func read(into rows: inout StoreRows) throws(FirebaseStoreError) {
        var before: [UInt8]?
        for (index, last) in lastKeys.enumerated() {
            if rows.mayBe(from: before, through: last) {
                for entry in try entries(ofBlock: index) {
                    try rows.take(entry.key, number: entry.number, value: entry.value, of: file)
                }
            }
            before = last
        }
    }

    /// Returns the number of the first block that can contain `key` or later keys.
    func block(from key: [UInt8]) -> Int {
        var (low, high) = (0, lastKeys.count)
        while low < high {
            let middle = (low + high) / 2
            if lastKeys[middle].isBefore(key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    func entries(ofBlock index: Int) throws(FirebaseStoreError) -> [Entry] {
        var entries: [Entry] = []
        let found = try StoreBlock(try block(at: places[index]), of: file).entries
        entries.reserveCapacity(found.count)
        for entry in found {
            let key = try internalKey(entry.key)
            let value = key.isDeletion ? nil : entry.value
            entries.append(Entry(key: key.user, number: key.number, value: value))
        }
        return entries
    }

    /// Returns the bytes of a block after a check of its checksum.
    private func block(at place: Place) throws(FirebaseStoreError) -> [UInt8] {
        var bytes = try file.bytes(at: place.offset, count: place.size + Self.trailerSize)
        let trailer = Array(bytes.suffix(Self.trailerSize))
        bytes.removeLast(Self.trailerSize - 1)
        var stored: UInt32 = 0
        for index in 1...4 { stored = stored >> 8 | UInt32(trailer[index]) << 24 }
        guard bytes.withUnsafeBytes({ Checksum.masked($0) }) == stored else {
            throw file.corrupted("a checksum is wrong.")
        }
        bytes.removeLast()
        switch trailer[0] {
        case 0: return bytes
        case 1: throw file.refuse("its blocks are compressed by Snappy.")
        default: throw file.refuse("its blocks are compressed.")
        }
    }

    /// Splits a key of a table into the caller's key and, behind it, the entry's number and kind.
    private func internalKey(
        _ key: [UInt8]
    ) throws(FirebaseStoreError) -> (user: [UInt8], number: UInt64, isDeletion: Bool) {
        guard key.count >= 8 else { throw file.corrupted("a key is too short.") }
        var word: UInt64 = 0
        for byte in key.suffix(8).reversed() { word = word << 8 | UInt64(byte) }
        guard word & 0xFF <= 1 else { throw file.corrupted("an entry has an unknown kind.") }
        return (Array(key.dropLast(8)), word >> 8, word & 0xFF == 0)
    }
}

/// The entries of a block. Each entry states how many bytes of its key equal the start of the
/// previous key. The data behind the entries are for searching.
struct StoreBlock {
    struct Entry {
        var key: [UInt8]
        var value: [UInt8]
    }

    private(set) var entries: [Entry] = []

    init(_ bytes: [UInt8], of file: StoreFile) throws(FirebaseStoreError) {
        guard bytes.count >= 4 else { throw file.corrupted("a block is too short.") }
        var restarts = 0
        for byte in bytes.suffix(4).reversed() { restarts = restarts << 8 | Int(byte) }
        let end = bytes.count - 4 - 4 * restarts
        guard end >= 0 else { throw file.corrupted("a block is too short.") }
        entries = try file.parse(bytes[..<end], or: file.corrupted("a block cannot be read.")) {
            reader throws(CodecError) in
            var entries: [Entry] = []
            var key: [UInt8] = []
            while !reader.isAtEnd {
                let shared = try reader.varint()
                let rest = try reader.varint()
                let count = try reader.varint()
                guard shared <= UInt64(key.count) else { throw .malformed }
                key.removeSubrange(Int(shared)...)
                key += try reader.bytes(rest)
                entries.append(Entry(key: key, value: Array(try reader.bytes(count))))
            }
            return entries
        }
    }
}

extension WireReader {
    /// Bytes whose number is known already.
    mutating func bytes(_ count: UInt64) throws(CodecError) -> UnsafeBufferPointer<UInt8> {
        guard count <= UInt64(rest.count) else { throw .truncated }
        let bytes = UnsafeBufferPointer(rebasing: rest.prefix(Int(count)))
        self = WireReader(UnsafeBufferPointer(rebasing: rest.dropFirst(Int(count))))
        return bytes
    }
}
