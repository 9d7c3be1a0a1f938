import CTidemarkSQLite
import Synchronization
import TidemarkSystem

/// The system's file layer under SQLite with two changes: a database file is an ``OpenDatabase``
/// and its log an ``OpenLog`` (Decisions/0022, 0033), or with a key a ``SealedDatabase`` and a
/// ``SealedLog`` (0063). All other files are handled by the system.
enum FileLayer {
    /// The key of the database that is being opened; nil if it is not encrypted.
    @TaskLocal static var key: (any StoreKey)?

    /// The name of this layer over the system's layer, for opening a database; nil if the default
    /// layer is not SQLite's own.
    static var name: UnsafePointer<CChar>? { overSystem?.pointee.zName }

    /// Returns the name of this layer over a layer that a test has registered.
    static func name(over base: String) -> UnsafePointer<CChar>? {
        overOthers.withLock { layers in
            if layers[base] == nil { layers[base] = sqlite3_vfs_find(base).flatMap(Layer.register) }
            return layers[base]?.name
        }
    }

    // SQLite's own layers for Unix can be called with a copy of their record. This value is written
    // once, before its first use.
    nonisolated(unsafe) private static let overSystem: UnsafePointer<sqlite3_vfs>? = {
        guard let system = sqlite3_vfs_find(nil), let name = system.pointee.zName,
            strncmp(name, "unix", 4) == 0
        else { return nil }
        return Layer.register(system).map { UnsafePointer($0.record) }
    }()

    private static let overOthers = Mutex<[String: Layer]>([:])
}

/// A registered file layer, which exists as long as the process: its record, followed by a pointer
/// to the layer below.
// @unchecked: written before its first use and never changed.
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
            Layer.open(
                Layer.base(of: layer!), name: name, file: file!, flags: flags, outFlags: outFlags)
        }
        guard sqlite3_vfs_register(record, 0) == SQLITE_OK else { return nil }
        return Layer(record: record)
    }

    private static func base(of record: Record) -> Record {
        UnsafeMutableRawPointer(record).assumingMemoryBound(to: Memory.self).pointee.base
    }

    private static func open(
        _ base: Record, name: UnsafePointer<CChar>?, file: LayeredFile.File,
        flags: Int32, outFlags: UnsafeMutablePointer<Int32>?
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
        // A file without methods is not open, so SQLite does not close it.
        file.pointee.pMethods = nil
        let inner = LayeredFile.inner(file)
        let code = base.pointee.xOpen(base, name, inner, flags, outFlags)
        if inner.pointee.pMethods != nil { begin(file) }
        return code
    }

    /// Returns the function that begins a log: encrypted if its database is. Returns nil if the
    /// database has lost the salt of its cipher.
    private static func beginLog(
        _ name: UnsafePointer<CChar>?
    ) -> ((LayeredFile.File) -> Void)? {
        // SQLite finds the database file by the name that it passed.
        guard let database = sqlite3_database_file_object(name), SealedDatabase.isOne(database)
        else { return OpenLog.begin }
        return SealedDatabase.cipher(of: database).map { cipher in
            { SealedLog.begin($0, cipher) }
        }
    }
}
