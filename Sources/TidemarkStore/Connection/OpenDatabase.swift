import CTidemarkSQLite

/// An open database file. Each page gets a ``PageChecksum`` when it is written, which is verified
/// when the page is read.
///
/// The checksum is in the last eight bytes of a page, which SQLite leaves free in a file that was
/// created so (``reserve(in:)``). An older file without checksums is read and written unchanged.
struct OpenDatabase {
    typealias File = LayeredFile.File

    /// The first property, because SQLite expects a file's methods there.
    private var base: sqlite3_file
    private var verifies = StoreLayer.verifiesPages
    /// The format of the file; nil before page 1 exists.
    private var format: Format?
    /// The length of the file, if known.
    private var end: Int64?
    /// The buffer from which a page is written.
    private let scratch: UnsafeMutableRawBufferPointer

    private static let longestPage = 65_536

    /// Makes the record of a file that the layer below has opened.
    static func begin(_ file: File) {
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: longestPage, alignment: 8)
        database(file).initialize(
            to: OpenDatabase(base: sqlite3_file(pMethods: methods), scratch: scratch))
    }

    private init(base: sqlite3_file, scratch: UnsafeMutableRawBufferPointer) {
        self.base = base
        self.scratch = scratch
    }

    static func isOne(_ file: File) -> Bool { file.pointee.pMethods == methods }

    private static func database(_ file: File?) -> UnsafeMutablePointer<OpenDatabase> {
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: OpenDatabase.self)
    }

    private static func inner(_ file: File?) -> File { LayeredFile.inner(file) }
    private static func below(_ file: File?) -> sqlite3_io_methods { LayeredFile.below(file) }

    // Written once, before its first use.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = LayeredFile.passingOn()
        methods.pointee.xClose = { file in
            database(file).pointee.scratch.deallocate()
            database(file).deinitialize(count: 1)
            file!.pointee.pMethods = nil
            return below(file).xClose(inner(file))
        }
        methods.pointee.xRead = { file, bytes, count, offset in
            read(file, bytes: bytes, count: count, offset: offset)
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            write(file, bytes: bytes, count: count, offset: offset)
        }
        methods.pointee.xTruncate = { file, size in
            database(file).pointee.end = nil
            return below(file).xTruncate(inner(file), size)
        }
        methods.pointee.xSync = { file, flags in below(file).xSync(inner(file), flags) }
        methods.pointee.xFileControl = { file, operation, argument in
            guard operation == verification else {
                return below(file).xFileControl(inner(file), operation, argument)
            }
            database(file).pointee.verifies = argument!.load(as: Int32.self) != 0
            return SQLITE_OK
        }
        return UnsafePointer(methods)
    }()
}

// MARK: - What a connection asks of it

extension OpenDatabase {
    /// The code of this layer's file control, which SQLite does not use.
    static let verification: Int32 = 0x7469_6465

    /// Makes a new database reserve space for the checksums in each page.
    static func reserve(in handle: OpaquePointer) {
        var count = Int32(PageChecksum.size)
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
    }

    /// Sets whether damaged pages are rejected. By default they are.
    static func verify(_ verifies: Bool, in handle: OpaquePointer) {
        var argument: Int32 = verifies ? 1 : 0
        sqlite3_file_control(handle, "main", verification, &argument)
    }
}

// MARK: - What page 1 says of all of them

extension OpenDatabase {
    private struct Format {
        var pageSize: Int
        var hasChecksums: Bool
    }

    /// Reads the format from the file, if it is not known yet.
    private static func learn(_ file: File?) -> Int32 {
        let database = database(file)
        if database.pointee.format != nil { return SQLITE_OK }
        let scratch = database.pointee.scratch
        var code = below(file).xRead(inner(file), scratch.baseAddress, 100, 0)
        if code == SQLITE_OK, let size = pageSize(UnsafeRawBufferPointer(scratch)) {
            code = below(file).xRead(inner(file), scratch.baseAddress, Int32(size), 0)
            if code == SQLITE_OK { learn(file, from: scratch, size) }
        }
        return code == LayeredFile.shortRead ? SQLITE_OK : code
    }

    /// Determines the format from page 1. The byte that states the reserved space may itself be
    /// damaged; in that case the checksum is valid once the byte is corrected.
    private static func learn(
        _ file: File?, from page: UnsafeMutableRawBufferPointer, _ size: Int
    ) {
        var hasChecksums = page[20] == PageChecksum.size
        if !hasChecksums {
            page[20] = UInt8(PageChecksum.size)
            let whole = UnsafeRawBufferPointer(rebasing: page[..<size])
            hasChecksums = sum(of: whole, at: 0) == written(in: whole)
        }
        database(file).pointee.format = Format(pageSize: size, hasChecksums: hasChecksums)
    }

    /// Returns the page size; nil if the file is not a database.
    private static func pageSize(_ header: UnsafeRawBufferPointer) -> Int? {
        guard header.starts(with: "SQLite format 3\0".utf8) else { return nil }
        let size = Int(header[16]) << 8 | Int(header[17])
        if size == 1 { return 65_536 }
        return size >= 512 && size & (size - 1) == 0 ? size : nil
    }

    /// Returns the page size if pages have checksums.
    private static func checkedSize(_ file: File?) -> Int? {
        guard let format = database(file).pointee.format, format.hasChecksums else { return nil }
        return format.pageSize
    }

    /// - Parameter page: The page, including the space for its checksum.
    private static func sum(of page: UnsafeRawBufferPointer, at offset: Int64) -> UInt64 {
        let contents = UnsafeRawBufferPointer(rebasing: page.dropLast(PageChecksum.size))
        return PageChecksum.of(contents, number: UInt64(offset) / UInt64(page.count))
    }

    private static func written(in page: UnsafeRawBufferPointer) -> UInt64 {
        let place = page.count - PageChecksum.size
        return UInt64(
            littleEndian: page.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
}

// MARK: - Pages

extension OpenDatabase {
    private static func read(
        _ file: File?, bytes: UnsafeMutableRawPointer?, count: Int32, offset: Int64
    ) -> Int32 {
        let code = below(file).xRead(inner(file), bytes, count, offset)
        // Short reads are not pages: they read the header, or reach beyond the file's end.
        guard code == SQLITE_OK, count >= 504, database(file).pointee.verifies else { return code }
        let learned = learn(file)
        guard learned == SQLITE_OK, let size = checkedSize(file),
            offset.isMultiple(of: Int64(size))
        else { return learned }
        let read = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        if read.count == size {
            return sum(of: read, at: offset) == written(in: read) ? code : LayeredFile.damaged
        }
        // SQLite reads only a page's contents when it passes a large value on.
        guard read.count == size - PageChecksum.size else { return code }
        let scratch = UnsafeMutableRawBufferPointer(
            rebasing: database(file).pointee.scratch[..<size])
        let again = below(file).xRead(inner(file), scratch.baseAddress, Int32(size), offset)
        guard again == SQLITE_OK else { return again }
        scratch.copyMemory(from: read)
        let whole = UnsafeRawBufferPointer(scratch)
        return sum(of: whole, at: offset) == written(in: whole) ? code : LayeredFile.damaged
    }

    private static func write(
        _ file: File?, bytes: UnsafeRawPointer?, count: Int32, offset: Int64
    ) -> Int32 {
        let page = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        if offset == 0, page.count >= 512 {
            database(file).pointee.format = pageSize(page).map {
                Format(pageSize: $0, hasChecksums: page[20] == PageChecksum.size)
            }
        }
        let learned = learn(file)
        guard learned == SQLITE_OK else { return learned }
        guard page.count == checkedSize(file), offset.isMultiple(of: Int64(page.count)) else {
            database(file).pointee.end = nil
            return below(file).xWrite(inner(file), bytes, count, offset)
        }
        let code = fill(file, to: offset, page.count)
        return code == SQLITE_OK ? writeWithSum(file, page: page, offset: offset) : code
    }

    private static func writeWithSum(
        _ file: File?, page: UnsafeRawBufferPointer, offset: Int64
    ) -> Int32 {
        let scratch = UnsafeMutableRawBufferPointer(
            rebasing: database(file).pointee.scratch[..<page.count])
        if page.baseAddress != UnsafeRawPointer(scratch.baseAddress) {
            scratch.copyMemory(from: page)
        }
        scratch.storeBytes(
            of: sum(of: UnsafeRawBufferPointer(scratch), at: offset).littleEndian,
            toByteOffset: page.count - PageChecksum.size, as: UInt64.self)
        let code = below(file).xWrite(inner(file), scratch.baseAddress, Int32(page.count), offset)
        let end = offset + Int64(page.count)
        if code != SQLITE_OK {
            database(file).pointee.end = nil
        } else if let known = database(file).pointee.end, known < end {
            database(file).pointee.end = end
        }
        return code
    }

    /// Fills a gap before `offset` with zeroed pages that have checksums. SQLite does not write
    /// free pages, and the resulting hole would look like pages that the disk has lost.
    private static func fill(_ file: File?, to offset: Int64, _ size: Int) -> Int32 {
        if database(file).pointee.end == nil {
            var size: Int64 = 0
            let code = below(file).xFileSize(inner(file), &size)
            guard code == SQLITE_OK else { return code }
            database(file).pointee.end = size
        }
        guard let end = database(file).pointee.end, end < offset else { return SQLITE_OK }
        let scratch = UnsafeMutableRawBufferPointer(
            rebasing: database(file).pointee.scratch[..<size])
        var place = (end + Int64(size) - 1) / Int64(size) * Int64(size)
        while place < offset {
            scratch.initializeMemory(as: UInt8.self, repeating: 0)
            let code = writeWithSum(file, page: UnsafeRawBufferPointer(scratch), offset: place)
            guard code == SQLITE_OK else { return code }
            place += Int64(size)
        }
        return SQLITE_OK
    }
}
