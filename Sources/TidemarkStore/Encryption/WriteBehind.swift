import GRDBSQLite

/// The pages that a move of the log writes to an encrypted file: they are encrypted by a second thread while the first
/// reads those that follow, and written by the first ``batches`` later. 750 KB while a long log is moved.
///
/// To SQLite a page that is kept is written. It does not look at the file before the move is at its end, and
/// takes the log's pages for moved only after it has had the file synced.
struct WriteBehind {
    /// Writes to an offset of the file, and returns SQLite's code.
    typealias Write = (UnsafeMutableRawBufferPointer, Int64) -> Int32

    /// It takes 0.1 ms until the second thread begins, as long as the first needs for one.
    private static let batches = 2

    private let header: SealedHeader
    private let cipher: any PageCipher
    private var kept = SealingBatch()
    /// Those that the second thread encrypts, in order.
    private var handed: [SealingBatch] = []

    init(_ header: SealedHeader, _ cipher: any PageCipher) {
        self.header = header
        self.cipher = cipher
    }

    /// - Returns: SQLite's code: of pages before this one, where there were enough.
    mutating func add(_ page: UnsafeRawBufferPointer, _ number: Int64, _ write: Write) -> Int32 {
        kept.add(page, number)
        guard kept.isFull else { return SQLITE_OK }
        kept.seal(header, cipher)
        handed.append(kept)
        guard handed.count > Self.batches else {
            kept = SealingBatch()
            return SQLITE_OK
        }
        kept = handed.removeFirst()
        return kept.write(header, cipher, write)
    }

    /// Writes what is kept.
    ///
    /// - Returns: SQLite's code.
    func finish(_ write: Write) -> Int32 {
        for batch in handed + [kept] {
            let code = batch.write(header, cipher, write)
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }
}
