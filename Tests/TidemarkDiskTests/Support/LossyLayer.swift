import Foundation
import CTidemarkSQLite

/// The layer under SQLite that passes the files of every ``LossyDisk`` to that disk. Other files
/// use the system's layer.
enum LossyLayer {
    /// The name of the layer for opening a database, or nil if SQLite cannot add the layer.
    static let name: String? = {
        guard let system = sqlite3_vfs_find(nil) else { return nil }
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        // The functions of SQLite's own layers for Unix also work with a copy of their record.
        layer.initialize(to: system.pointee)
        layer.pointee.zName = UnsafePointer(strdup("tidemark-lossy"))
        layer.pointee.szOsFile = Int32(OpenFile.sizeBeforeFile) + system.pointee.szOsFile
        layer.pointee.pNext = nil
        layer.pointee.xOpen = { _, name, file, flags, outFlags in
            OpenFile.open(name, file!, flags, outFlags)
        }
        layer.pointee.xDelete = { _, name, syncsFolder in
            LossyLayer.delete(name, syncsFolder)
        }
        guard sqlite3_vfs_register(layer, 0) == SQLITE_OK else { return nil }
        return "tidemark-lossy"
    }()

    // SQLite keeps the layer as long as the process lives, and no code writes to it.
    nonisolated(unsafe) fileprivate static let system = sqlite3_vfs_find(nil)!

    private static func delete(_ name: UnsafePointer<CChar>?, _ syncsFolder: Int32) -> Int32 {
        let path = String(cString: name!)
        guard let disk = LossyDisk.holding(path) else {
            return system.pointee.xDelete(system, name, syncsFolder)
        }
        guard disk.mayDelete() else { return SQLITE_IOERR }
        let code = system.pointee.xDelete(system, name, syncsFolder)
        if code == SQLITE_OK { disk.deleted(path, syncsFolder: syncsFolder != 0) }
        return code
    }
}

/// An open file, in the memory that SQLite provides. The file of the system's layer follows this
/// value.
private struct OpenFile {
    typealias File = UnsafeMutablePointer<sqlite3_file>

    /// This property is first, because SQLite looks for a file's methods there.
    private var base: sqlite3_file
    private let disk: LossyDisk
    private let content: DiskFile
    private let isDatabase: Bool
    /// True if the next sync also makes the file's name durable.
    private var syncsFolder: Bool

    static let sizeBeforeFile = (MemoryLayout<OpenFile>.size + 15) & ~15

    static func open(
        _ name: UnsafePointer<CChar>?, _ file: File, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let system = LossyLayer.system
        guard let path = name.map({ String(cString: $0) }), let disk = LossyDisk.holding(path)
        else { return system.pointee.xOpen(system, name, file, flags, outFlags) }
        file.pointee.pMethods = nil
        var exists: Int32 = 0
        _ = system.pointee.xAccess(system, name, SQLITE_ACCESS_EXISTS, &exists)
        let isMade = exists == 0
        if isMade, flags & SQLITE_OPEN_CREATE == 0 { return SQLITE_CANTOPEN }
        guard let content = disk.open(path, isMade: isMade) else { return SQLITE_CANTOPEN }
        let code = system.pointee.xOpen(system, name, inner(file), flags, outFlags)
        guard inner(file).pointee.pMethods != nil else { return code }
        let isJournal = flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0
        opened(file).initialize(
            to: OpenFile(
                base: sqlite3_file(pMethods: methods), disk: disk, content: content,
                isDatabase: flags & SQLITE_OPEN_MAIN_DB != 0, syncsFolder: isMade && isJournal))
        return code
    }

    private static func opened(_ file: File?) -> UnsafeMutablePointer<OpenFile> {
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: OpenFile.self)
    }

    private static func inner(_ file: File?) -> File {
        (UnsafeMutableRawPointer(file!) + sizeBeforeFile).assumingMemoryBound(
            to: sqlite3_file.self)
    }

    private static func system(_ file: File?) -> sqlite3_io_methods {
        inner(file).pointee.pMethods.pointee
    }

    private static func read(
        _ file: File?, _ bytes: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64
    ) -> Int32 {
        let open = opened(file).pointee
        // The code is `SQLITE_IOERR_READ`, which is a macro.
        guard open.disk.mayRead(isDatabase: open.isDatabase) else { return SQLITE_IOERR | 1 << 8 }
        return system(file).xRead(inner(file), bytes, count, offset)
    }

    private static func write(
        _ file: File?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64
    ) -> Int32 {
        let open = opened(file).pointee
        let new = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        return open.disk.write(open.content, new, at: offset) { count in
            system(file).xWrite(inner(file), bytes, Int32(count), offset)
        }
    }

    private static func sync(_ file: File?, _ flags: Int32) -> Int32 {
        let open = opened(file).pointee
        let code = open.disk.sync(open.content, withFolder: open.syncsFolder) {
            system(file).xSync(inner(file), flags)
        }
        if code == SQLITE_OK { opened(file).pointee.syncsFolder = false }
        return code
    }

    // These are methods of version 1, without shared memory: a store does not share its file.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 1
        methods.pointee.xClose = { file in
            opened(file).deinitialize(count: 1)
            file!.pointee.pMethods = nil
            return system(file).xClose(inner(file))
        }
        methods.pointee.xRead = { file, bytes, count, offset in
            read(file, bytes, count, offset)
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            write(file, bytes, count, offset)
        }
        methods.pointee.xTruncate = { file, size in
            let open = opened(file).pointee
            return open.disk.change(open.content, .truncate(Int(size))) {
                system(file).xTruncate(inner(file), size)
            }
        }
        methods.pointee.xSync = { file, flags in sync(file, flags) }
        methods.pointee.xFileSize = { file, size in system(file).xFileSize(inner(file), size) }
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
