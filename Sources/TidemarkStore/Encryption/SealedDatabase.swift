import CTidemarkSQLite

/// An open encrypted database file. Each page is a ``SealedPage``, encrypted when it is written and
/// decrypted when it is read. The tag of the encryption replaces the ``PageChecksum``.
struct SealedDatabase {
    typealias File = LayeredFile.File

    /// The first property, because SQLite expects a file's methods there.
    private var base: sqlite3_file
    private let key: any StoreKey
    private var verifies = StoreLayer.verifiesPages
    /// The header and the cipher; nil before the file has a header, or if its header belongs to
    /// another key.
    private var made: (header: SealedHeader, cipher: any PageCipher)?
    /// The length of the file, if known.
    private var end: Int64?
    /// The buffer from which a page is written, and from which a part of a page is read.
    private let scratch: UnsafeMutableRawBufferPointer
    /// The buffer for an encrypted page.
    private let sealed: UnsafeMutableRawBufferPointer
    private var ahead = ReadAhead()
    /// The pages of the current move of the log; nil if none is in progress.
    private var behind: WriteBehind?
    /// The error of a page that could not be written during a move. SQLite receives it when it
    /// syncs the file.
    private var failedMove = SQLITE_OK

    private init(base: sqlite3_file, _ key: any StoreKey) {
        self.base = base
        self.key = key
        scratch = .allocate(byteCount: SealedPage.size, alignment: 16)
        sealed = .allocate(byteCount: SealedPage.size, alignment: 16)
    }

    /// Makes the record of a file that the layer below has opened.
    static func begin(_ file: File, _ key: any StoreKey) {
        database(file).initialize(
            to: SealedDatabase(base: sqlite3_file(pMethods: methods), key))
    }

    static func isOne(_ file: File) -> Bool { file.pointee.pMethods == methods }

    private static func database(_ file: File?) -> UnsafeMutablePointer<SealedDatabase> {
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: SealedDatabase.self)
    }

    private static func inner(_ file: File?) -> File { LayeredFile.inner(file) }
    private static func below(_ file: File?) -> sqlite3_io_methods { LayeredFile.below(file) }

    // Written once, before its first use.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = LayeredFile.passingOn()
        methods.pointee.xClose = { file in
            database(file).pointee.scratch.deallocate()
            database(file).pointee.sealed.deallocate()
            database(file).pointee.ahead.forget()
            database(file).deinitialize(count: 1)
            file!.pointee.pMethods = nil
            return below(file).xClose(inner(file))
        }
        methods.pointee.xRead = { file, bytes, count, offset in
            afterMove(file!) {
                read(
                    file, bytes: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)),
                    offset: offset)
            }
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            write(
                file!, page: UnsafeRawBufferPointer(start: bytes, count: Int(count)), offset: offset
            )
        }
        methods.pointee.xTruncate = { file, size in
            endingMove(file!) {
                database(file).pointee.end = nil
                database(file).pointee.ahead.forget()
                return below(file).xTruncate(inner(file), size)
            }
        }
        methods.pointee.xSync = { file, flags in
            endingMove(file!) { below(file).xSync(inner(file), flags) }
        }
        methods.pointee.xFileSize = { file, size in
            afterMove(file!) { below(file).xFileSize(inner(file), size) }
        }
        methods.pointee.xLock = { file, level in
            database(file).pointee.ahead.forget()
            return below(file).xLock(inner(file), level)
        }
        methods.pointee.xFileControl = { file, operation, argument in
            switch operation {
            case OpenDatabase.verification:
                database(file).pointee.verifies = argument!.load(as: Int32.self) != 0
                return SQLITE_OK
            case SQLITE_FCNTL_CKPT_START: beginMove(file!)
            case SQLITE_FCNTL_CKPT_DONE:
                writeKept(file!)
                database(file).pointee.behind = nil
            default: break
            }
            return below(file).xFileControl(inner(file), operation, argument)
        }
        return UnsafePointer(methods)
    }()
}

// MARK: - The cipher

extension SealedDatabase {
    /// Makes a new database reserve space for the encryption in each page.
    static func reserve(in handle: OpaquePointer) {
        var count = Int32(SealedPage.roomSize)
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
    }

    /// Throws the reason why the key is not that of the file.
    ///
    /// - Throws: ``StoreError``; nothing for a file that is new or damaged.
    static func requireKey(of handle: OpaquePointer) throws(StoreError) {
        guard let file = LayeredFile.ofDatabase(handle), isOne(file) else {
            throw .unreadable(detail: "the system's files cannot be encrypted here")
        }
        switch SealedHeader.reading(of: file) {
        case .plain: throw .notEncrypted
        case .sealed: if cipher(of: file) == nil { throw .wrongKey }
        case .otherVersion(let version): throw .otherEncryption(version)
        case .unknown, .damaged: break
        }
    }

    /// Returns the file's cipher; nil if the file has no header yet, or one that is damaged or of
    /// another key.
    static func cipher(of file: File) -> (any PageCipher)? {
        if let made = database(file).pointee.made { return made.cipher }
        guard case .sealed(let header) = SealedHeader.reading(of: file) else { return nil }
        let (cipher, check) = database(file).pointee.key.cipher(salt: header.salt)
        guard check == header.check else { return nil }
        database(file).pointee.made = (header, cipher)
        return cipher
    }

    /// Makes the header of an empty file.
    private static func makeHeader(_ file: File) {
        let key = database(file).pointee.key
        let salt = key.makeSalt()
        let (cipher, check) = key.cipher(salt: salt)
        database(file).pointee.made = (SealedHeader(salt: salt, check: check), cipher)
    }
}

// MARK: - Reading

extension SealedDatabase {
    private static let pageSize = Int64(SealedPage.size)
    /// The number of bytes that SQLite reads to determine a file's format.
    private static let headerEnd: Int64 = 100

    private static func read(
        _ file: File?, bytes: UnsafeMutableRawBufferPointer, offset: Int64
    ) -> Int32 {
        let number = offset / pageSize
        let start = offset - number * pageSize
        guard start + Int64(bytes.count) <= pageSize else { return LayeredFile.failedRead }
        if bytes.count == SealedPage.size { return readPage(file!, page: bytes, number: number) }
        let scratch = database(file).pointee.scratch
        let code = readPage(file!, page: scratch, number: number)
        switch code {
        case SQLITE_OK: break
        case LayeredFile.damaged where number == 0 && start + Int64(bytes.count) <= headerEnd:
            SealedPage.writeKnownHeader(to: scratch)
        case LayeredFile.shortRead:
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return code
        default: return code
        }
        let part = Int(start)..<Int(start) + bytes.count
        bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: scratch[part]))
        return SQLITE_OK
    }

    private static func readPage(
        _ file: File, page: UnsafeMutableRawBufferPointer, number: Int64
    ) -> Int32 {
        let isScan = database(file).pointee.ahead.isScan(to: number)
        if database(file).pointee.verifies, let cipher = cipher(of: file),
            let isOpen = readAhead(file, page: page, number: number, isScan: isScan, cipher: cipher)
        {
            return isOpen ? SQLITE_OK : LayeredFile.damaged
        }
        let sealed = database(file).pointee.sealed
        let code = below(file).xRead(
            inner(file), sealed.baseAddress, Int32(sealed.count), number * pageSize)
        if code == LayeredFile.shortRead {
            // The file is empty. SQLite never reads a page after the end of another file, and would
            // interpret missing bytes as zeros.
            var size: Int64 = 0
            let code = below(file).xFileSize(inner(file), &size)
            guard code == SQLITE_OK else { return code }
            return size == 0 ? LayeredFile.shortRead : LayeredFile.damaged
        }
        guard code == SQLITE_OK else { return code }
        guard let cipher = cipher(of: file),
            SealedPage.open(
                sealed, into: page, number: number, cipher,
                verifies: database(file).pointee.verifies)
        else { return LayeredFile.damaged }
        return SQLITE_OK
    }

    /// - Returns: True if the page is as it was written; nil if it must be read without read-ahead.
    private static func readAhead(
        _ file: File, page: UnsafeMutableRawBufferPointer, number: Int64, isScan: Bool,
        cipher: any PageCipher
    ) -> Bool? {
        let database = database(file)
        var batch = database.pointee.ahead.batch(with: number)
        if isScan, learnEnd(file) == SQLITE_OK, let size = database.pointee.end {
            let read: (Range<Int64>, UnsafeMutableRawBufferPointer) -> Bool = { numbers, bytes in
                below(file).xRead(
                    inner(file), bytes.baseAddress, Int32(bytes.count),
                    numbers.lowerBound * pageSize) == SQLITE_OK
            }
            let end = size / pageSize
            if batch == nil { batch = database.pointee.ahead.begin(at: number, end: end, read) }
            if batch != nil { database.pointee.ahead.goOn(to: end, cipher, read) }
        }
        return batch?.open(number, into: page, cipher)
    }
}

// MARK: - Writing

extension SealedDatabase {
    /// Writes a page. A page that could not be read back unchanged is rejected, and the transaction
    /// fails.
    private static func write(
        _ file: File, page: UnsafeRawBufferPointer, offset: Int64
    ) -> Int32 {
        let number = offset / pageSize
        guard number * pageSize == offset, SealedPage.isFit(page, isFirst: number == 0) else {
            return LayeredFile.failedWrite
        }
        var code = database(file).pointee.failedMove
        if code == SQLITE_OK { code = learn(file) }
        if code == SQLITE_OK { code = fill(file, to: number) }
        return code == SQLITE_OK ? writePage(file, page: page, number: number) : code
    }

    private static func learn(_ file: File) -> Int32 {
        if cipher(of: file) != nil { return SQLITE_OK }
        var size: Int64 = 0
        let code = below(file).xFileSize(inner(file), &size)
        guard code == SQLITE_OK else { return code }
        // With another salt, the contents of the file would be unreadable.
        guard size == 0 else { return LayeredFile.damaged }
        makeHeader(file)
        return SQLITE_OK
    }

    private static func writePage(
        _ file: File, page: UnsafeRawBufferPointer, number: Int64
    ) -> Int32 {
        database(file).pointee.ahead.forget(number)
        let code =
            database(file).pointee.behind?.add(page, number: number) {
                writeSealed(file, pages: $0, offset: $1)
            }
            ?? writeAlone(file, page: page, number: number)
        let end = (number + 1) * pageSize
        if code != SQLITE_OK {
            // SQLite receives the error, and ends the move.
            database(file).pointee.behind = nil
            database(file).pointee.end = nil
        } else if let known = database(file).pointee.end, known < end {
            database(file).pointee.end = end
        }
        return code
    }

    private static func writeAlone(
        _ file: File, page: UnsafeRawBufferPointer, number: Int64
    ) -> Int32 {
        let (scratch, sealed) = (
            database(file).pointee.scratch, database(file).pointee.sealed
        )
        scratch.copyMemory(from: page)
        guard let (header, cipher) = database(file).pointee.made,
            SealedPage.seal(scratch, into: sealed, number: number, header: header, cipher: cipher)
        else { return LayeredFile.failedWrite }
        return writeSealed(file, pages: sealed, offset: number * pageSize)
    }

    private static func writeSealed(
        _ file: File, pages: UnsafeMutableRawBufferPointer, offset: Int64
    ) -> Int32 {
        below(file).xWrite(inner(file), pages.baseAddress, Int32(pages.count), offset)
    }

    /// Fills pages that SQLite skips, as in ``OpenDatabase``, because zeros cannot be decrypted.
    private static func fill(_ file: File, to number: Int64) -> Int32 {
        let code = learnEnd(file)
        guard code == SQLITE_OK else { return code }
        guard let end = database(file).pointee.end, end < number * pageSize else {
            return SQLITE_OK
        }
        let zeros = [UInt8](repeating: 0, count: SealedPage.size)
        for place in (end + pageSize - 1) / pageSize..<number {
            let code = zeros.withUnsafeBytes { writePage(file, page: $0, number: place) }
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    private static func learnEnd(_ file: File) -> Int32 {
        if database(file).pointee.end != nil { return SQLITE_OK }
        var size: Int64 = 0
        let code = below(file).xFileSize(inner(file), &size)
        if code == SQLITE_OK { database(file).pointee.end = size }
        return code
    }
}

// MARK: - A move of the log

extension SealedDatabase {
    private static func beginMove(_ file: File) {
        guard cipher(of: file) != nil, let (header, cipher) = database(file).pointee.made else {
            return
        }
        database(file).pointee.behind = WriteBehind(header, cipher)
    }

    private static func writeKept(_ file: File) {
        guard let behind = database(file).pointee.behind else { return }
        let code = behind.finish { writeSealed(file, pages: $0, offset: $1) }
        guard code != SQLITE_OK else { return }
        database(file).pointee.failedMove = code
        database(file).pointee.end = nil
    }

    /// Writes the pending pages before the file is inspected.
    private static func afterMove(_ file: File, _ body: () -> Int32) -> Int32 {
        writeKept(file)
        let code = database(file).pointee.failedMove
        return code == SQLITE_OK ? body() : code
    }

    /// Runs `body` at the end of a move. Its result decides whether the log's pages count as moved.
    private static func endingMove(_ file: File, _ body: () -> Int32) -> Int32 {
        let code = afterMove(file, body)
        database(file).pointee.failedMove = SQLITE_OK
        return code
    }
}
