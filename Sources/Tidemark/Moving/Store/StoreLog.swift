/// A log of LevelDB: the writes since the last table was created, one record for each write.
struct StoreLog {
    private let file: StoreFile

    init(_ file: StoreFile) { self.file = file }

    /// Passes the kept entries of complete records to `body`, oldest first.
    ///
    /// - Returns: True if the last record is incomplete, for example after a kill during a write.
    func read(
        keeping: @escaping ([UInt8]) -> StoreRecord.Keeping,
        _ body: (StoreRecord.Entry) throws(FirebaseStoreError) -> Void
    ) throws(FirebaseStoreError) -> Bool {
        var pieces = StorePieces(file)
        var record = StoreRecord(keeping: keeping)
        while let piece = try pieces.next() {
            if piece.isFirst { record = StoreRecord(keeping: keeping) }
            guard record.take(piece.bytes, at: piece.place), !piece.isLast || record.isComplete
            else { throw file.corrupted("a record cannot be read.") }
            if piece.isLast { for entry in record.entries { try body(entry) } }
        }
        return pieces.hasTornEnd
    }

    /// Passes the entries with wanted keys to `rows`.
    ///
    /// - Returns: True if the last record is incomplete.
    func read(into rows: inout StoreRows) throws(FirebaseStoreError) -> Bool {
        let prefixes = rows.prefixes
        return try read(keeping: { prefixes.contains(where: $0.starts(with:)) ? .value : .nothing })
        { entry throws(FirebaseStoreError) in
            try rows.take(entry.key, number: entry.number, value: entry.value, of: file)
        }
    }

    /// Returns a value, of which the place was read before.
    func value(at place: StoreRecord.Place) throws(FirebaseStoreError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(place.count)
        var start = place.start
        while bytes.count < place.count {
            let inBlock = LogFormat.blockSize - start % LogFormat.blockSize
            let count = min(inBlock, place.count - bytes.count)
            bytes += try file.bytes(at: start, count: count)
            start += count + LogFormat.headerSize
        }
        return bytes
    }

    static func reader(of file: StoreFile) -> LogReader<FirebaseStoreError> {
        LogReader(
            blocks: { () throws(FirebaseStoreError) in
                try file.read(upTo: LogFormat.blockSize)
            }, allowsTornEnd: true, damaged: { file.corrupted($0) })
    }
}
