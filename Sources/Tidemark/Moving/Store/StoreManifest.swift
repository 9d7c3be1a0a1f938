/// The list of the files of a LevelDB folder: the sum of the edits in its manifest.
struct StoreManifest {
    struct Table {
        var level: UInt64
        var number: UInt64
        var size: UInt64
        var firstKey: [UInt8]
        var lastKey: [UInt8]

        /// - Parameters:
        ///   - smallest: The first key, and behind it eight bytes for the entry's number and kind.
        ///   - largest: The last key, in the same form.
        init(level: UInt64, number: UInt64, size: UInt64, smallest: [UInt8], largest: [UInt8]) {
            (self.level, self.number, self.size) = (level, number, size)
            firstKey = Array(smallest.dropLast(8))
            lastKey = Array(largest.dropLast(8))
        }
    }

    private(set) var tables: [Table] = []
    /// The oldest log whose entries are in no table; 0 for none.
    private(set) var logNumber: UInt64 = 0
    /// The number of another log, of old versions of LevelDB; 0 for none.
    private(set) var previousLogNumber: UInt64 = 0
    /// True if the last edit is incomplete, for example after a kill.
    let hasTornEnd: Bool

    /// The maximum number of tables, which is more than a cache of many gigabytes has.
    private static let mostTables = 100_000
    private static let comparator = "leveldb.BytewiseComparator"

    init(_ file: StoreFile) throws(FirebaseStoreError) {
        var tables: [UInt64: Table] = [:]
        var log = StoreLog.reader(of: file)
        var logNumber: UInt64?
        while let record = try log.next() {
            let edit = try file.parse(record, or: file.corrupted("an edit cannot be read.")) {
                reader throws(CodecError) in try StoreEdit(&reader)
            }
            if let name = edit.comparator, !name.hasSameBytes(as: Self.comparator) {
                throw file.refuse("its keys have the unknown order \(name).")
            }
            logNumber = edit.logNumber ?? logNumber
            previousLogNumber = edit.previousLogNumber ?? previousLogNumber
            for number in edit.removed { tables[number] = nil }
            for table in edit.added { tables[table.number] = table }
            if tables.count > Self.mostTables { throw file.refuse("it has too many files.") }
        }
        guard let logNumber else { throw file.corrupted("it names no log.") }
        self.logNumber = logNumber
        self.tables = tables.values.sorted { $0.number < $1.number }
        hasTornEnd = log.hasTornEnd
    }
}

/// A change of the list of files.
private struct StoreEdit {
    var comparator: String?
    var logNumber: UInt64?
    var previousLogNumber: UInt64?
    var removed: [UInt64] = []
    var added: [StoreManifest.Table] = []

    /// Parses an edit, in which a number states the kind of each part.
    init(_ reader: inout WireReader) throws(CodecError) {
        while !reader.isAtEnd {
            switch try reader.varint() {
            case 1: comparator = try reader.text()
            case 2: logNumber = try reader.varint()
            case 9: previousLogNumber = try reader.varint()
            // The next file's number, and the last entry's.
            case 3, 4: _ = try reader.varint()
            case 5:
                // The start of the next compaction.
                _ = try reader.varint()
                _ = try reader.lengthDelimited()
            case 6:
                _ = try reader.varint()
                removed.append(try reader.varint())
            case 7:
                added.append(
                    StoreManifest.Table(
                        level: try reader.varint(), number: try reader.varint(),
                        size: try reader.varint(),
                        smallest: Array(try reader.lengthDelimited()),
                        largest: Array(try reader.lengthDelimited())))
            default: throw .malformed
            }
        }
    }
}
