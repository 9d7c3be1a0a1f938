import GRDBSQLite
import Synchronization
import TidemarkSystem

/// The system's layer under SQLite, but that a database's file is an ``OpenDatabase`` and its log an
/// ``OpenLog`` (Decisions/0022, 0033), or with a key a ``SealedDatabase`` and a ``SealedLog`` (0063).
/// Every other file is the system's alone.
enum FileLayer {
    /// Of the database that is being opened; nil for one that is not encrypted.
    @TaskLocal static var key: (any StoreKey)?

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
            strdup("tidemark-" + String(cString: base.pointee.zName)))
        record.pointee.szOsFile = Int32(LayeredFile.sizeBeforeFile) + base.pointee.szOsFile
        record.pointee.pNext = nil
        record.pointee.xOpen = { layer, name, file, flags, outFlags in
            Layer.open(Layer.base(of: layer!), name, file!, flags, outFlags)
        }
        guard sqlite3_vfs_register(record, 0) == SQLITE_OK else { return nil }
        return Layer(record: record)
    }

    private static func base(of record: Record) -> Record {
        UnsafeMutableRawPointer(record).assumingMemoryBound(to: Memory.self).pointee.base
    }

    private static func open(
        _ base: Record, _ name: UnsafePointer<CChar>?, _ file: LayeredFile.File,
        _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let begin: (LayeredFile.File) -> Void
        if flags & SQLITE_OPEN_WAL != 0 {
            guard let beginLog = Self.beginLog(name) else {
                file.pointee.pMethods = nil
                return LayeredFile.damaged
            }
            begin = beginLog
        } else if flags & SQLITE_OPEN_MAIN_DB != 0 {
            begin =
                FileLayer.key.map { key in { SealedDatabase.begin($0, key) } }
                ?? OpenDatabase.begin
        } else {
            return base.pointee.xOpen(base, name, file, flags, outFlags)
        }
        // Without methods it is not open, and nobody closes it.
        file.pointee.pMethods = nil
        let inner = LayeredFile.inner(file)
        let code = base.pointee.xOpen(base, name, inner, flags, outFlags)
        if inner.pointee.pMethods != nil { begin(file) }
        return code
    }

    /// A log is encrypted as its database is. Nil where that has lost what its cipher is made from.
    private static func beginLog(
        _ name: UnsafePointer<CChar>?
    ) -> ((LayeredFile.File) -> Void)? {
        // SQLite's own answer to the name that it gave.
        guard let database = sqlite3_database_file_object(name), SealedDatabase.isOne(database)
        else { return OpenLog.begin }
        return SealedDatabase.cipher(of: database).map { cipher in
            { SealedLog.begin($0, cipher) }
        }
    }
}
