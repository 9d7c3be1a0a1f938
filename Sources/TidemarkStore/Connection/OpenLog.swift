import CTidemarkSQLite

/// An open log. A ``LogBuffer`` collects appended bytes, and each page that is read is compared
/// with the page that was written.
///
/// For SQLite, a buffered write is complete. SQLite reads the log's size or contents, or syncs the
/// log, only after the buffered bytes were written. A write error is reported by the call that
/// writes the bytes, at the latest by the last write of the transaction, which then fails as if its
/// last page had failed.
struct OpenLog {
    typealias File = LayeredFile.File

    /// The first property, because SQLite expects a file's methods there.
    private var base: sqlite3_file
    private var buffer = LogBuffer()
    private var checksums = LogChecksums()
    private let verifies = StoreLayer.verifiesPages

    /// Makes the record of a file that the layer below has opened.
    static func begin(_ file: File) {
        log(file).initialize(to: OpenLog(base: sqlite3_file(pMethods: methods)))
    }

    private init(base: sqlite3_file) { self.base = base }

    private static func log(_ file: File?) -> UnsafeMutablePointer<OpenLog> {
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: OpenLog.self)
    }

    private static func inner(_ file: File?) -> File { LayeredFile.inner(file) }
    private static func below(_ file: File?) -> sqlite3_io_methods { LayeredFile.below(file) }

    private static func write(
        _ file: File?, bytes: UnsafeRawPointer?, count: Int32, offset: Int64
    ) -> Int32 {
        let new = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        log(file).pointee.checksums.note(new, at: offset)
        return log(file).pointee.buffer.append(new, at: offset, to: file!)
    }

    private static func read(
        _ file: File?, bytes: UnsafeMutableRawPointer?, count: Int32, offset: Int64
    ) -> Int32 {
        let code = afterFlush(file) { below(file).xRead(inner(file), bytes, count, offset) }
        guard code == SQLITE_OK, log(file).pointee.verifies else { return code }
        let read = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        let isRight = log(file).pointee.checksums.accepts(read, at: offset)
        return isRight ? SQLITE_OK : LayeredFile.damaged
    }

    /// Writes the buffered bytes before the file is inspected.
    private static func afterFlush(_ file: File?, _ body: () -> Int32) -> Int32 {
        let code = log(file).pointee.buffer.flush(to: file!)
        return code == SQLITE_OK ? body() : code
    }

    // Written once, before its first use.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = LayeredFile.passingOn()
        methods.pointee.xClose = { file in
            // The buffered bytes belong to an unfinished transaction.
            log(file).deinitialize(count: 1)
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
            afterFlush(file) { below(file).xTruncate(inner(file), size) }
        }
        methods.pointee.xSync = { file, flags in
            afterFlush(file) { below(file).xSync(inner(file), flags) }
        }
        methods.pointee.xFileSize = { file, size in
            afterFlush(file) { below(file).xFileSize(inner(file), size) }
        }
        return UnsafePointer(methods)
    }()
}
