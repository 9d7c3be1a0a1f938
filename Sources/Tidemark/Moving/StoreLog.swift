/// A log of LevelDB: the writes since the last table was created, one record for each write.
struct StoreLog {
    private static let headerSize: UInt64 = 12

    private let file: StoreFile

    init(_ file: StoreFile) { self.file = file }

    /// Passes the entries with wanted keys to `rows`.
    ///
    /// - Returns: True if the last record is incomplete, for example after a kill during a write.
    ///   LevelDB ignores such a record too.
    func read(into rows: inout StoreRows) throws(FirebaseStoreError) -> Bool {
        var log = Self.reader(of: file)
        while let record = try log.next() { try take(record, into: &rows) }
        return log.hasTornEnd
    }

    static func reader(of file: StoreFile) -> LogReader<FirebaseStoreError> {
        LogReader(
            blocks: { () throws(FirebaseStoreError) in
                try file.read(upTo: LogFormat.blockSize)
            }, allowsTornEnd: true, damaged: { file.corrupted($0) })
    }

    private struct Entry {
        var key: [UInt8]
        var value: [UInt8]?
    }

    /// The number of the first entry, how many there are, and the entries, numbered on.
    private func take(
        _ record: [UInt8], into rows: inout StoreRows
    ) throws(FirebaseStoreError) {
        let (first, entries) = try file.parse(
            record, or: file.corrupted("a record cannot be read.")
        ) {
            reader throws(CodecError) -> (UInt64, [Entry]) in
            let head = Array(try reader.bytes(Self.headerSize))
            let first = head[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let count = head[8...].reversed().reduce(0) { $0 << 8 | Int($1) }
            var entries: [Entry] = []
            while !reader.isAtEnd {
                let kind = try reader.byte()
                guard kind <= 1 else { throw .malformed }
                let key = Array(try reader.lengthDelimited())
                let value = kind == 1 ? Array(try reader.lengthDelimited()) : nil
                entries.append(Entry(key: key, value: value))
            }
            guard entries.count == count else { throw .malformed }
            return (first, entries)
        }
        for (index, entry) in entries.enumerated() {
            try rows.take(entry.key, first &+ UInt64(index), entry.value, of: file)
        }
    }
}
