import CTidemarkSQLite

/// The open log of an encrypted file, whose pages have the layout of ``SealedFrames``.
///
/// SQLite writes the header of a page and then the page. They are buffered until the transaction
/// ends or there are ``SealedFrames/most``, and become one box. Boxes are written ``gathered`` at a
/// time, because the system writes one long piece faster than several short ones. With the last
/// page of a transaction all pages are in the log, as in an ``OpenLog``. A header without a page is
/// a correction, which SQLite makes after it has read the page.
struct SealedLog {
    typealias File = LayeredFile.File

    /// The first property, because SQLite expects a file's methods there.
    private var base: sqlite3_file
    private let cipher: any PageCipher
    private let verifies = StoreLayer.verifiesPages
    private var groups = FrameGroups()
    private var opened = OpenedFrames()
    /// A header whose page is not written yet, and its position in the log (`waiting`).
    private let header: UnsafeMutableRawBufferPointer
    private var waiting: Int?
    /// The position of the frame that the last call read completely.
    private var justRead: Int?
    /// Headers and pages that are not written yet.
    private var kept: UnsafeMutableRawBufferPointer
    private var keptPlaces = 0..<0
    /// The buffer for encrypted boxes.
    private let sealed: UnsafeMutableRawBufferPointer
    /// The positions of the boxes in ``sealed`` that are not written yet.
    private var unwritten = 0..<0

    /// The number of boxes written together: 97 KB, because SQLite's file layer takes less than 128
    /// KB per call.
    private static let gathered = 3

    private init(base: sqlite3_file, _ cipher: any PageCipher) {
        self.base = base
        self.cipher = cipher
        let boxSize = SealedFrames.most * SealedFrames.size
        header = .allocate(byteCount: SealedFrames.header, alignment: 8)
        kept = .allocate(byteCount: boxSize, alignment: 16)
        sealed = .allocate(byteCount: Self.gathered * boxSize, alignment: 16)
    }

    private mutating func deallocate() {
        for bytes in [header, kept, sealed] { bytes.deallocate() }
        opened.forgetAll()
    }

    /// Makes the record of a file that the layer below has opened.
    static func begin(_ file: File, _ cipher: any PageCipher) {
        log(file).initialize(to: SealedLog(base: sqlite3_file(pMethods: methods), cipher))
    }

    private static func log(_ file: File?) -> UnsafeMutablePointer<SealedLog> {
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: SealedLog.self)
    }

    private static func inner(_ file: File?) -> File { LayeredFile.inner(file) }
    private static func below(_ file: File?) -> sqlite3_io_methods { LayeredFile.below(file) }

    // Written once, before its first use.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = LayeredFile.passingOn()
        methods.pointee.xClose = { file in
            // The buffered pages belong to an unfinished transaction.
            log(file).pointee.deallocate()
            log(file).deinitialize(count: 1)
            file!.pointee.pMethods = nil
            return below(file).xClose(inner(file))
        }
        methods.pointee.xRead = { file, bytes, count, offset in
            read(
                file!, bytes: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)),
                offset: offset)
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            write(file!, UnsafeRawBufferPointer(start: bytes, count: Int(count)), offset)
        }
        methods.pointee.xTruncate = { file, size in
            afterWriting(file!) { below(file).xTruncate(inner(file), size) }
        }
        methods.pointee.xSync = { file, flags in
            afterWriting(file!) { below(file).xSync(inner(file), flags) }
        }
        methods.pointee.xFileSize = { file, size in
            afterWriting(file!) { below(file).xFileSize(inner(file), size) }
        }
        return UnsafePointer(methods)
    }()

    /// Returns the offset of a position in the log.
    private static func offset(_ place: Int) -> Int64 {
        Int64(SealedFrames.logHeader + place * SealedFrames.size)
    }

    /// Returns the position that contains an offset, and the offset within its header and page.
    private static func place(_ offset: Int64) -> (number: Int, within: Int) {
        let behindHeader = Int(offset) - SealedFrames.logHeader
        return (behindHeader / SealedFrames.size, behindHeader % SealedFrames.size)
    }

    private static func frame(
        _ place: Int, in frames: UnsafeMutableRawBufferPointer, from start: Int
    ) -> UnsafeMutableRawBufferPointer {
        let begin = (place - start) * SealedFrames.size
        return UnsafeMutableRawBufferPointer(rebasing: frames[begin..<begin + SealedFrames.size])
    }
}

// MARK: - Writing

extension SealedLog {
    private static func write(
        _ file: File, _ bytes: UnsafeRawBufferPointer, _ offset: Int64
    ) -> Int32 {
        let justRead = log(file).pointee.justRead
        log(file).pointee.justRead = nil
        if offset == 0, bytes.count == SealedFrames.logHeader { return begin(file, bytes) }
        guard offset >= Int64(SealedFrames.logHeader) else { return LayeredFile.failedWrite }
        let place = place(offset)
        switch (place.within, bytes.count) {
        case (0, SealedFrames.header):
            let code = settle(file)
            guard code == SQLITE_OK else { return code }
            log(file).pointee.header.copyMemory(from: bytes)
            if justRead == place.number { return correct(file, place.number) }
            log(file).pointee.waiting = place.number
            return SQLITE_OK
        case (SealedFrames.header, SealedPage.size):
            return writePage(file, page: bytes, place: place.number)
        // A part of a page, which SQLite writes on disks where a write may damage its neighbours.
        default: return LayeredFile.failedWrite
        }
    }

    /// Writes the log's header, with which the log begins again.
    private static func begin(_ file: File, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        let code = settle(file)
        guard code == SQLITE_OK else { return code }
        (log(file).pointee.keptPlaces, log(file).pointee.unwritten) = (0..<0, 0..<0)
        log(file).pointee.groups.forgetAll()
        log(file).pointee.opened.forgetAll()
        let sealed = log(file).pointee.sealed
        sealed.copyMemory(from: bytes)
        SealedFrames.toggleMark(sealed)
        return below(file).xWrite(inner(file), sealed.baseAddress, Int32(bytes.count), 0)
    }

    private static func writePage(
        _ file: File, page: UnsafeRawBufferPointer, place: Int
    ) -> Int32 {
        // Contents in the space reserved for the box would be missing when SQLite reads the page.
        guard page.suffix(SealedPage.roomSize).allSatisfy({ $0 == 0 }) else {
            return LayeredFile.failedWrite
        }
        guard log(file).pointee.waiting == place else {
            return replace(file, page: page, place: place)
        }
        log(file).pointee.waiting = nil
        if log(file).pointee.keptPlaces.upperBound != place {
            let code = writeKept(file)
            guard code == SQLITE_OK else { return code }
            log(file).pointee.keptPlaces = place..<place
        }
        let (start, kept) = (log(file).pointee.keptPlaces.lowerBound, log(file).pointee.kept)
        let header = UnsafeRawBufferPointer(log(file).pointee.header)
        let frame = frame(place, in: kept, from: start)
        frame.copyMemory(from: header)
        UnsafeMutableRawBufferPointer(rebasing: frame[SealedFrames.header...])
            .copyMemory(from: page)
        log(file).pointee.keptPlaces = start..<place + 1
        if SealedFrames.isLast(header) { return writeAll(file) }
        return place + 1 - start == SealedFrames.most ? writeKept(file) : SQLITE_OK
    }

    private static func writeAll(_ file: File) -> Int32 {
        let code = writeKept(file)
        return code == SQLITE_OK ? flush(file) : code
    }

    /// Writes the buffered pages. If the write fails they are dropped, because SQLite repeats the
    /// transaction.
    private static func writeKept(_ file: File) -> Int32 {
        let places = log(file).pointee.keptPlaces
        if places.isEmpty { return SQLITE_OK }
        log(file).pointee.keptPlaces = 0..<0
        var code = split(file, before: places.lowerBound)
        guard code == SQLITE_OK else { return code }
        let kept = log(file).pointee.kept
        code = write(file, kept, places)
        guard code == SQLITE_OK else { return code }
        log(file).pointee.opened.keep(places, kept)
        log(file).pointee.kept = log(file).pointee.opened.room()
        return SQLITE_OK
    }

    /// Moves pages that a transaction wrote before a partial rollback into a separate box, before
    /// the pages after them are overwritten.
    private static func split(_ file: File, before place: Int) -> Int32 {
        guard let group = log(file).pointee.groups.group(of: place), group.start < place else {
            return SQLITE_OK
        }
        var code = flush(file)
        if code == SQLITE_OK { code = open(file, group) }
        guard code == SQLITE_OK else { return code }
        return write(file, frames(file, group), group.start..<place)
    }

    /// Encrypts headers and pages for these positions.
    private static func write(
        _ file: File, _ frames: UnsafeMutableRawBufferPointer, _ places: Range<Int>
    ) -> Int32 {
        let log = log(file)
        let code = makeRoom(file, places)
        guard code == SQLITE_OK else { return code }
        let start = log.pointee.unwritten.count * SealedFrames.size
        let length = places.count * SealedFrames.size
        let sealed = UnsafeMutableRawBufferPointer(
            rebasing: log.pointee.sealed[start..<start + length])
        let isSealed = SealedFrames.seal(
            UnsafeRawBufferPointer(rebasing: frames[..<length]), into: sealed,
            place: places.lowerBound, log.pointee.cipher)
        guard isSealed else { return LayeredFile.failedWrite }
        let first = start > 0 ? log.pointee.unwritten.lowerBound : places.lowerBound
        log.pointee.unwritten = first..<places.upperBound
        log.pointee.opened.forget(places)
        log.pointee.groups.set(
            .init(
                start: places.lowerBound, count: places.count,
                mark: SealedFrames.mark(UnsafeRawBufferPointer(sealed))))
        return SQLITE_OK
    }

    /// Writes earlier boxes, unless the new positions follow them and there is space.
    private static func makeRoom(_ file: File, _ places: Range<Int>) -> Int32 {
        let unwritten = log(file).pointee.unwritten
        let isBehind = unwritten.upperBound == places.lowerBound
        let isRoom = unwritten.count + places.count <= gathered * SealedFrames.most
        return isBehind && isRoom ? SQLITE_OK : flush(file)
    }

    /// Writes the pending boxes. If the write fails, the contents at their positions are unknown.
    private static func flush(_ file: File) -> Int32 {
        let log = log(file)
        let places = log.pointee.unwritten
        if places.isEmpty { return SQLITE_OK }
        log.pointee.unwritten = 0..<0
        let code = below(file).xWrite(
            inner(file), log.pointee.sealed.baseAddress,
            Int32(places.count * SealedFrames.size), offset(places.lowerBound))
        if code != SQLITE_OK {
            log.pointee.opened.forget(places)
            log.pointee.groups.forget(places)
        }
        return code
    }
}

// MARK: - Writing again

extension SealedLog {
    private static func afterWriting(_ file: File, _ body: () -> Int32) -> Int32 {
        var code = settle(file)
        if code == SQLITE_OK { code = writeAll(file) }
        return code == SQLITE_OK ? body() : code
    }

    /// Applies a header without a page as a correction of the existing header.
    private static func settle(_ file: File) -> Int32 {
        guard let place = log(file).pointee.waiting else { return SQLITE_OK }
        log(file).pointee.waiting = nil
        return correct(file, place)
    }

    /// Replaces the header of a page in the log with ``header``.
    private static func correct(_ file: File, _ place: Int) -> Int32 {
        change(file, place: place) { frame in
            frame.copyMemory(from: UnsafeRawBufferPointer(log(file).pointee.header))
        }
    }

    /// Replaces a page that the same transaction wrote before. The checksums stay those of the old
    /// page until SQLite corrects them before the end of the transaction.
    private static func replace(
        _ file: File, page: UnsafeRawBufferPointer, place: Int
    ) -> Int32 {
        let code = settle(file)
        guard code == SQLITE_OK else { return code }
        return change(file, place: place) { frame in
            UnsafeMutableRawBufferPointer(rebasing: frame[SealedFrames.header...])
                .copyMemory(from: page)
        }
    }

    /// Changes the header or page at a position, and rewrites its whole box.
    private static func change(
        _ file: File, place: Int, body: (UnsafeMutableRawBufferPointer) -> Void
    ) -> Int32 {
        var code = writeAll(file)
        if code == SQLITE_OK { code = open(file, place) }
        guard code == SQLITE_OK, let group = log(file).pointee.groups.group(of: place) else {
            return code
        }
        let frames = frames(file, group)
        body(frame(place, in: frames, from: group.start))
        code = write(file, frames, group.places)
        return code == SQLITE_OK ? flush(file) : code
    }
}

// MARK: - Reading

extension SealedLog {
    private static func read(
        _ file: File, bytes: UnsafeMutableRawBufferPointer, offset: Int64
    ) -> Int32 {
        log(file).pointee.justRead = nil
        return afterWriting(file) {
            if offset < Int64(SealedFrames.logHeader) {
                return readHeader(file, bytes: bytes, offset: offset)
            }
            return readPart(file, bytes: bytes, place: place(offset))
        }
    }

    private static func readHeader(
        _ file: File, bytes: UnsafeMutableRawBufferPointer, offset: Int64
    ) -> Int32 {
        let part = Int(offset)..<Int(offset) + bytes.count
        guard part.upperBound <= SealedFrames.logHeader else { return LayeredFile.failedRead }
        let header = UnsafeMutableRawBufferPointer(
            rebasing: log(file).pointee.sealed[..<SealedFrames.logHeader])
        let code = below(file).xRead(inner(file), header.baseAddress, Int32(header.count), 0)
        SealedFrames.toggleMark(header)
        bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: header[part]))
        return code
    }

    private static func readPart(
        _ file: File, bytes: UnsafeMutableRawBufferPointer,
        place: (number: Int, within: Int)
    ) -> Int32 {
        guard place.within + bytes.count <= SealedFrames.size else {
            return LayeredFile.failedRead
        }
        let isWhole = bytes.count == SealedFrames.size
        let isKnown = log(file).pointee.groups.group(of: place.number) != nil
        let code = open(file, place.number)
        // When SQLite reads a whole frame for the first time, the frame may belong to no
        // transaction. The log ends there.
        let isEnd = code == LayeredFile.damaged && isWhole && !isKnown
        if code == LayeredFile.shortRead || isEnd {
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return isEnd ? SQLITE_OK : code
        }
        guard code == SQLITE_OK, let group = log(file).pointee.groups.group(of: place.number)
        else { return code }
        if isWhole { log(file).pointee.justRead = place.number }
        let frame = frame(place.number, in: frames(file, group), from: group.start)
        bytes.copyMemory(
            from: UnsafeRawBufferPointer(
                rebasing: frame[place.within..<place.within + bytes.count]))
        return SQLITE_OK
    }

    /// Returns the frames of the group that was opened last.
    private static func frames(
        _ file: File, _ group: FrameGroups.Group
    ) -> UnsafeMutableRawBufferPointer {
        log(file).pointee.opened.frames(from: group.start)!
    }

    /// Ensures that the box at a position is in ``opened``.
    private static func open(_ file: File, _ place: Int) -> Int32 {
        if let group = log(file).pointee.groups.group(of: place) { return open(file, group) }
        // SQLite reads an unknown log from its beginning, so a box begins here.
        var size: Int64 = 0
        var code = below(file).xFileSize(inner(file), &size)
        guard code == SQLITE_OK else { return code }
        let there = self.place(size).number - place
        guard there > 0 else { return LayeredFile.shortRead }
        code = readBox(file, place, count: min(there, SealedFrames.most))
        guard code == SQLITE_OK else { return code }
        let sealed = UnsafeRawBufferPointer(log(file).pointee.sealed)
        guard let count = SealedFrames.count(sealed), count <= there else {
            return LayeredFile.damaged
        }
        let mark = SealedFrames.mark(
            UnsafeRawBufferPointer(rebasing: sealed[..<(count * SealedFrames.size)]))
        let group = FrameGroups.Group(start: place, count: count, mark: mark)
        code = openBox(file, group)
        if code == SQLITE_OK { log(file).pointee.groups.set(group) }
        return code
    }

    private static func open(_ file: File, _ group: FrameGroups.Group) -> Int32 {
        if log(file).pointee.opened.frames(from: group.start) != nil { return SQLITE_OK }
        let code = readBox(file, group.start, count: group.count)
        return code == SQLITE_OK ? openBox(file, group) : code
    }

    /// Reads `count` positions into ``sealed``.
    private static func readBox(_ file: File, _ place: Int, count: Int) -> Int32 {
        below(file).xRead(
            inner(file), log(file).pointee.sealed.baseAddress, Int32(count * SealedFrames.size),
            offset(place))
    }

    /// Decrypts the box in ``sealed``.
    private static func openBox(_ file: File, _ group: FrameGroups.Group) -> Int32 {
        let log = log(file)
        let sealed = UnsafeRawBufferPointer(
            rebasing: log.pointee.sealed[..<(group.count * SealedFrames.size)])
        let verifies = log.pointee.verifies
        let frames = log.pointee.opened.room()
        guard !verifies || SealedFrames.mark(sealed) == group.mark,
            SealedFrames.open(
                sealed,
                into: UnsafeMutableRawBufferPointer(rebasing: frames[..<sealed.count]),
                place: group.start, log.pointee.cipher, verifies: verifies)
        else {
            frames.deallocate()
            return LayeredFile.damaged
        }
        log.pointee.opened.keep(group.places, frames)
        return SQLITE_OK
    }
}
