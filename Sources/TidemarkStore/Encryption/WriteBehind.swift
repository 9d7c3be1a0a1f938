import CTidemarkSQLite

/// The pages that a move of the log writes to an encrypted file. A second thread encrypts them
/// while the first reads the following pages; the first thread writes them ``batches`` later. Uses
/// 750 KB while a long log is moved.
///
/// For SQLite, a pending page is written. SQLite does not inspect the file before the end of the
/// move, and regards the log's pages as moved only after it has synced the file.
struct WriteBehind {
    /// Writes to an offset of the file, and returns SQLite's code.
    typealias Write = (UnsafeMutableRawBufferPointer, Int64) -> Int32

    /// The number of batches in flight. The second thread needs 0.1 ms to start, as long as the
    /// first needs for a batch.
    private static let batches = 2

    private let header: SealedHeader
    private let cipher: any PageCipher
    private var kept = SealingBatch()
    /// The batches given to the second thread, in order.
    private var handed: [SealingBatch] = []

    init(_ header: SealedHeader, _ cipher: any PageCipher) {
        self.header = header
        self.cipher = cipher
    }

    /// - Returns: SQLite's code for earlier pages, if a batch was written.
    mutating func add(_ page: UnsafeRawBufferPointer, number: Int64, write: Write) -> Int32 {
        kept.add(page, number)
        guard kept.isFull else { return SQLITE_OK }
        kept.seal(header, cipher)
        handed.append(kept)
        guard handed.count > Self.batches else {
            kept = SealingBatch()
            return SQLITE_OK
        }
        kept = handed.removeFirst()
        return kept.write(header, cipher: cipher, write: write)
    }

    /// Writes the pending pages.
    ///
    /// - Returns: SQLite's code.
    func finish(_ write: Write) -> Int32 {
        for batch in handed + [kept] {
            let code = batch.write(header, cipher: cipher, write: write)
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }
}
