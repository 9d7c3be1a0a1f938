import GRDBSQLite

/// The open log of an encrypted file: each page is a ``SealedFrame``. What is appended goes through a
/// ``LogBuffer``, as in an ``OpenLog``.
///
/// SQLite writes the header of a page and then the page: they are sealed when both are there. A header
/// alone is a correction, which SQLite makes of a page that it has just read.
struct SealedLog {
    typealias File = LayeredFile.File
    private typealias Place = SealedFrame.Place

    /// First, because SQLite looks for a file's methods there.
    private var base: sqlite3_file
    private let cipher: any PageCipher
    private var buffer = LogBuffer()
    private var marks = SealMarks()
    private let verifies = StoreLayer.verifiesPages
    /// A header whose page has yet to come, and where.
    private let header: UnsafeMutableRawBufferPointer
    private var waiting: Place?
    /// What was read as a whole by the last call.
    private var justRead: Place?
    /// What is sealed, or opened.
    private let frame: UnsafeMutableRawBufferPointer

    private init(base: sqlite3_file, _ cipher: any PageCipher) {
        self.base = base
        self.cipher = cipher
        header = .allocate(byteCount: SealedFrame.header, alignment: 8)
        frame = .allocate(byteCount: SealedFrame.size, alignment: 16)
    }

    /// Makes the record of a file that is open below.
    static func begin(_ file: File, _ cipher: any PageCipher) {
        log(file).initialize(to: SealedLog(base: sqlite3_file(pMethods: methods), cipher))
    }

    private static func log(_ file: File?) -> UnsafeMutablePointer<SealedLog> {
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: SealedLog.self)
    }

    private static func inner(_ file: File?) -> File { LayeredFile.inner(file) }
    private static func below(_ file: File?) -> sqlite3_io_methods { LayeredFile.below(file) }

    // Written once, before anybody has it.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = LayeredFile.passingOn()
        methods.pointee.xClose = { file in
            // What is kept is of a transaction that has no end.
            log(file).pointee.header.deallocate()
            log(file).pointee.frame.deallocate()
            log(file).deinitialize(count: 1)
            file!.pointee.pMethods = nil
            return below(file).xClose(inner(file))
        }
        methods.pointee.xRead = { file, bytes, count, offset in
            read(file!, UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)), offset)
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            write(file!, UnsafeRawBufferPointer(start: bytes, count: Int(count)), offset)
        }
        methods.pointee.xTruncate = { file, size in
            afterFlush(file!) { below(file).xTruncate(inner(file), size) }
        }
        methods.pointee.xSync = { file, flags in
            afterFlush(file!) { below(file).xSync(inner(file), flags) }
        }
        methods.pointee.xFileSize = { file, size in
            afterFlush(file!) { below(file).xFileSize(inner(file), size) }
        }
        return UnsafePointer(methods)
    }()
}

// MARK: - What is kept

extension SealedLog {
    private static func afterFlush(_ file: File, _ body: () -> Int32) -> Int32 {
        let settled = settle(file)
        guard settled == SQLITE_OK else { return settled }
        let code = log(file).pointee.buffer.flush(to: file)
        return code == SQLITE_OK ? body() : code
    }

    /// A header that no page followed corrects the one that is there.
    private static func settle(_ file: File) -> Int32 {
        guard let place = log(file).pointee.waiting else { return SQLITE_OK }
        log(file).pointee.waiting = nil
        return correct(file, place)
    }

    private static func append(
        _ file: File, _ bytes: UnsafeRawBufferPointer, _ offset: Int64
    ) -> Int32 {
        log(file).pointee.buffer.append(bytes, at: offset, to: file)
    }
}

// MARK: - Writing

extension SealedLog {
    private static func write(
        _ file: File, _ bytes: UnsafeRawBufferPointer, _ offset: Int64
    ) -> Int32 {
        let justRead = log(file).pointee.justRead
        log(file).pointee.justRead = nil
        if offset == 0, bytes.count == SealedFrame.logHeader {
            let code = settle(file)
            guard code == SQLITE_OK else { return code }
            log(file).pointee.marks.forget()
            return append(file, bytes, offset)
        }
        guard offset >= Int64(SealedFrame.logHeader) else { return LayeredFile.failedWrite }
        let place = Place(offset)
        switch (place.offset, bytes.count) {
        case (0, SealedFrame.header):
            let code = settle(file)
            guard code == SQLITE_OK else { return code }
            log(file).pointee.header.copyMemory(from: bytes)
            if justRead == place { return correct(file, place) }
            log(file).pointee.waiting = place
            return SQLITE_OK
        case (SealedFrame.header, SealedPage.size): return writePage(file, bytes, place)
        // A part of a page, as SQLite writes it where a write may damage what is beside it.
        default: return LayeredFile.failedWrite
        }
    }

    private static func writePage(
        _ file: File, _ page: UnsafeRawBufferPointer, _ place: Place
    ) -> Int32 {
        let start = Place(place.start)
        let isNew = log(file).pointee.waiting == start
        if isNew { log(file).pointee.waiting = nil }
        // What SQLite has in the room of the seal, it would miss when it reads the page.
        guard page.suffix(SealedPage.sealSize).allSatisfy({ $0 == 0 }) else {
            return LayeredFile.failedWrite
        }
        if !isNew { return replace(file, page, start) }
        let frame = log(file).pointee.frame
        frame.copyMemory(from: UnsafeRawBufferPointer(log(file).pointee.header))
        UnsafeMutableRawBufferPointer(rebasing: frame[SealedFrame.header...]).copyMemory(from: page)
        guard seal(file, start) else { return LayeredFile.failedWrite }
        let sealed = UnsafeRawBufferPointer(frame)
        let code = append(
            file, UnsafeRawBufferPointer(rebasing: sealed[..<SealedFrame.header]), start.start)
        guard code == SQLITE_OK else { return code }
        return append(
            file, UnsafeRawBufferPointer(rebasing: sealed[SealedFrame.header...]),
            start.start + Int64(SealedFrame.header))
    }

    /// Seals the page in ``frame``.
    private static func seal(_ file: File, _ place: Place) -> Bool {
        let log = log(file)
        guard SealedFrame.seal(log.pointee.frame, place, log.pointee.cipher) else { return false }
        log.pointee.marks.set(SealedFrame.mark(log.pointee.frame), at: place.number)
        return true
    }

    private static func writeFrame(_ file: File, _ place: Place) -> Int32 {
        guard seal(file, place) else { return LayeredFile.failedWrite }
        return below(file).xWrite(
            inner(file), log(file).pointee.frame.baseAddress, Int32(SealedFrame.size), place.start)
    }

    /// Puts ``header`` in the place of the one that a page in the log has.
    private static func correct(_ file: File, _ place: Place) -> Int32 {
        let code = log(file).pointee.buffer.flush(to: file)
        guard code == SQLITE_OK else { return code }
        let read = readFrame(file, place)
        guard read == SQLITE_OK else { return read }
        log(file).pointee.frame.copyMemory(
            from: UnsafeRawBufferPointer(log(file).pointee.header))
        return writeFrame(file, place)
    }

    /// Puts a page in the place of one that the same transaction wrote before. Its sums are those of the
    /// old one until SQLite corrects them, before the transaction ends.
    private static func replace(
        _ file: File, _ page: UnsafeRawBufferPointer, _ place: Place
    ) -> Int32 {
        let code = afterFlush(file) { readFrame(file, place) }
        guard code == SQLITE_OK else { return code }
        let frame = log(file).pointee.frame
        UnsafeMutableRawBufferPointer(rebasing: frame[SealedFrame.header...]).copyMemory(from: page)
        return writeFrame(file, place)
    }
}

// MARK: - Reading

extension SealedLog {
    private static func read(
        _ file: File, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64
    ) -> Int32 {
        log(file).pointee.justRead = nil
        return afterFlush(file) {
            if offset < Int64(SealedFrame.logHeader) {
                guard offset + Int64(bytes.count) <= Int64(SealedFrame.logHeader) else {
                    return LayeredFile.failedRead
                }
                return below(file).xRead(
                    inner(file), bytes.baseAddress, Int32(bytes.count), offset)
            }
            return readPart(file, bytes, Place(offset))
        }
    }

    private static func readPart(
        _ file: File, _ bytes: UnsafeMutableRawBufferPointer, _ place: Place
    ) -> Int32 {
        guard place.offset + bytes.count <= SealedFrame.size else { return LayeredFile.failedRead }
        let start = Place(place.start)
        let isWhole = bytes.count == SealedFrame.size
        let code = readFrame(file, start)
        // What SQLite reads as a whole for the first time may be of no transaction: there the log ends.
        let isEnd =
            code == LayeredFile.damaged && isWhole
            && log(file).pointee.marks.mark(at: start.number) == nil
        if code == LayeredFile.shortRead || isEnd {
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return isEnd ? SQLITE_OK : code
        }
        guard code == SQLITE_OK else { return code }
        if isWhole { log(file).pointee.justRead = start }
        let part = place.offset..<place.offset + bytes.count
        bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: log(file).pointee.frame[part]))
        return SQLITE_OK
    }

    /// Reads header and page of a place into ``frame``, and opens them.
    private static func readFrame(_ file: File, _ place: Place) -> Int32 {
        let log = log(file)
        let frame = log.pointee.frame
        let code = below(file).xRead(
            inner(file), frame.baseAddress, Int32(frame.count), place.start)
        guard code == SQLITE_OK else { return code }
        let mark = SealedFrame.mark(frame)
        let known = log.pointee.marks.mark(at: place.number)
        let verifies = log.pointee.verifies
        guard !verifies || known == nil || known == mark,
            SealedFrame.open(frame, place, log.pointee.cipher, verifies: verifies)
        else { return LayeredFile.damaged }
        if known == nil { log.pointee.marks.set(mark, at: place.number) }
        return SQLITE_OK
    }
}
