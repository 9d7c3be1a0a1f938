import GRDBSQLite
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The system's layer under SQLite, but that logs are written through a ``LogBuffer``. Every other file
/// is the system's alone.
///
/// To SQLite a write that is kept is done; it asks for the log's size or contents, or has them synced, only
/// after what is kept was written. An error comes with the call that writes it: the last of the
/// transaction at the latest, which then has failed, as with an error of its last page.
enum BufferedLog {
    /// To open a database by, over the system's layer; nil where that is somebody else's.
    static var name: UnsafePointer<CChar>? { overSystem?.pointee.zName }

    /// As ``name``, over a layer that a test has registered.
    static func name(over base: String) -> UnsafePointer<CChar>? {
        overOthers.withLock { layers in
            if layers[base] == nil { layers[base] = sqlite3_vfs_find(base).flatMap(Layer.register) }
            return layers[base]?.name
        }
    }

    // The functions of SQLite's own layers for Unix may be called with a copy of their record. Written
    // once, before anybody has it.
    nonisolated(unsafe) private static let overSystem: UnsafePointer<sqlite3_vfs>? = {
        guard let system = sqlite3_vfs_find(nil), let name = system.pointee.zName,
            strncmp(name, "unix", 4) == 0
        else { return nil }
        return Layer.register(system).map { UnsafePointer($0.record) }
    }()

    private static let overOthers = Mutex<[String: Layer]>([:])
}

/// A layer as SQLite knows it, for as long as the process lives: its record, and behind it whose files
/// it opens.
// @unchecked: written before anybody has it, and never again.
private struct Layer: @unchecked Sendable {
    typealias Record = UnsafeMutablePointer<sqlite3_vfs>

    let record: Record
    var name: UnsafePointer<CChar>? { UnsafePointer(record.pointee.zName) }

    private struct Memory {
        var record: sqlite3_vfs
        let base: Record
    }

    static func register(_ base: Record) -> Layer? {
        let memory = UnsafeMutablePointer<Memory>.allocate(capacity: 1)
        memory.initialize(to: Memory(record: base.pointee, base: base))
        let record = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: sqlite3_vfs.self)
        record.pointee.zName = UnsafePointer(
            strdup("tidemark-buffered-log-" + String(cString: base.pointee.zName)))
        record.pointee.szOsFile = Int32(OpenLog.sizeBeforeFile) + base.pointee.szOsFile
        record.pointee.pNext = nil
        record.pointee.xOpen = { layer, name, file, flags, outFlags in
            OpenLog.open(Layer.base(of: layer!), name, file!, flags, outFlags)
        }
        guard sqlite3_vfs_register(record, 0) == SQLITE_OK else { return nil }
        return Layer(record: record)
    }

    private static func base(of record: Record) -> Record {
        UnsafeMutableRawPointer(record).assumingMemoryBound(to: Memory.self).pointee.base
    }
}

/// An open log, in memory that SQLite gives: this, and behind it the file as the system's layer has it.
private struct OpenLog {
    typealias File = UnsafeMutablePointer<sqlite3_file>

    /// First, because SQLite looks for a file's methods there.
    private var base: sqlite3_file
    private var buffer: LogBuffer

    /// As far as the system's record has to be aligned.
    static let sizeBeforeFile = (MemoryLayout<OpenLog>.size + 15) & ~15

    static func open(
        _ system: UnsafeMutablePointer<sqlite3_vfs>, _ name: UnsafePointer<CChar>?, _ file: File,
        _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard flags & SQLITE_OPEN_WAL != 0 else {
            return system.pointee.xOpen(system, name, file, flags, outFlags)
        }
        // Without methods it is not open, and nobody closes it.
        file.pointee.pMethods = nil
        let code = system.pointee.xOpen(system, name, inner(file), flags, outFlags)
        guard inner(file).pointee.pMethods != nil else { return code }
        log(file).initialize(
            to: OpenLog(base: sqlite3_file(pMethods: methods), buffer: LogBuffer()))
        return code
    }

    private static func log(_ file: File) -> UnsafeMutablePointer<OpenLog> {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenLog.self)
    }

    private static func inner(_ file: File?) -> File {
        (UnsafeMutableRawPointer(file!) + sizeBeforeFile)
            .assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func system(_ file: File?) -> sqlite3_io_methods {
        inner(file).pointee.pMethods.pointee
    }

    /// Writes what is kept. What could not be written is not kept: SQLite does the transaction anew.
    private static func flush(_ file: File?) -> Int32 {
        let log = log(file!)
        if log.pointee.buffer.isEmpty { return SQLITE_OK }
        defer { log.pointee.buffer.forget() }
        return log.pointee.buffer.bytes.withUnsafeBytes { bytes in
            system(file).xWrite(
                inner(file), bytes.baseAddress, Int32(bytes.count), log.pointee.buffer.offset)
        }
    }

    private static func write(
        _ file: File?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64
    ) -> Int32 {
        let new = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        switch log(file!).pointee.buffer.add(new, at: offset) {
        case .kept: return SQLITE_OK
        case .complete: return flush(file)
        case .refused:
            let code = flush(file)
            guard code == SQLITE_OK else { return code }
            return system(file).xWrite(inner(file), bytes, count, offset)
        }
    }

    /// What is kept goes to the system before somebody looks at the file.
    private static func afterFlush(_ file: File?, _ body: () -> Int32) -> Int32 {
        let code = flush(file)
        return code == SQLITE_OK ? body() : code
    }

    // Of version 1: what later ones add is for the database's own file.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 1
        methods.pointee.xClose = { file in
            // What is kept is of a transaction that has no end.
            log(file!).deinitialize(count: 1)
            file!.pointee.pMethods = nil
            return system(file).xClose(inner(file))
        }
        methods.pointee.xRead = { file, bytes, count, offset in
            afterFlush(file) { system(file).xRead(inner(file), bytes, count, offset) }
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            write(file, bytes, count, offset)
        }
        methods.pointee.xTruncate = { file, size in
            afterFlush(file) { system(file).xTruncate(inner(file), size) }
        }
        methods.pointee.xSync = { file, flags in
            afterFlush(file) { system(file).xSync(inner(file), flags) }
        }
        methods.pointee.xFileSize = { file, size in
            afterFlush(file) { system(file).xFileSize(inner(file), size) }
        }
        methods.pointee.xLock = { file, level in system(file).xLock(inner(file), level) }
        methods.pointee.xUnlock = { file, level in system(file).xUnlock(inner(file), level) }
        methods.pointee.xCheckReservedLock = { file, result in
            system(file).xCheckReservedLock(inner(file), result)
        }
        methods.pointee.xFileControl = { file, operation, argument in
            system(file).xFileControl(inner(file), operation, argument)
        }
        methods.pointee.xSectorSize = { file in system(file).xSectorSize(inner(file)) }
        methods.pointee.xDeviceCharacteristics = { file in
            system(file).xDeviceCharacteristics(inner(file))
        }
        return UnsafePointer(methods)
    }()
}
