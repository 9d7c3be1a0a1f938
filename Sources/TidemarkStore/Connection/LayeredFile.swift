import GRDBSQLite

/// An open file of ours in memory that SQLite gives: a record of ours, which begins with SQLite's, and
/// behind it the file as the layer below has it.
enum LayeredFile {
    typealias File = UnsafeMutablePointer<sqlite3_file>
    typealias Methods = UnsafeMutablePointer<sqlite3_io_methods>

    /// As far as the record below has to be aligned.
    static let sizeBeforeFile =
        (max(
            MemoryLayout<OpenLog>.size, MemoryLayout<OpenDatabase>.size,
            MemoryLayout<SealedLog>.size, MemoryLayout<SealedDatabase>.size) + 15) & ~15

    /// `SQLITE_IOERR_DATA`, which is a macro: what was read is not what was written.
    static let damaged = SQLITE_IOERR | 32 << 8
    /// `SQLITE_IOERR_SHORT_READ`, which is a macro: the file ends before, and the rest is zeros.
    static let shortRead = SQLITE_IOERR | 2 << 8
    /// `SQLITE_IOERR_READ` and `SQLITE_IOERR_WRITE`, which are macros.
    static let (failedRead, failedWrite) = (SQLITE_IOERR | 1 << 8, SQLITE_IOERR | 3 << 8)

    static func inner(_ file: File?) -> File {
        (UnsafeMutableRawPointer(file!) + sizeBeforeFile)
            .assumingMemoryBound(to: sqlite3_file.self)
    }

    /// The open file of a connection; nil where it is not ours.
    static func ofDatabase(_ handle: OpaquePointer) -> File? {
        var found: File?
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &found)
        guard code == SQLITE_OK, let found, OpenDatabase.isOne(found) || SealedDatabase.isOne(found)
        else { return nil }
        return found
    }

    static func below(_ file: File?) -> sqlite3_io_methods {
        inner(file).pointee.pMethods.pointee
    }

    /// Methods that only pass on, to be changed; close, read, write, truncate and sync are missing.
    ///
    /// Of version 1, without shared and mapped memory: a store has its file alone, and what SQLite read
    /// from mapped memory nobody would compare.
    static func passingOn() -> Methods {
        let methods = Methods.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 1
        methods.pointee.xFileSize = { file, size in
            LayeredFile.below(file).xFileSize(LayeredFile.inner(file), size)
        }
        methods.pointee.xLock = { file, level in
            LayeredFile.below(file).xLock(LayeredFile.inner(file), level)
        }
        methods.pointee.xUnlock = { file, level in
            LayeredFile.below(file).xUnlock(LayeredFile.inner(file), level)
        }
        methods.pointee.xCheckReservedLock = { file, result in
            LayeredFile.below(file).xCheckReservedLock(LayeredFile.inner(file), result)
        }
        methods.pointee.xFileControl = { file, operation, argument in
            LayeredFile.below(file).xFileControl(LayeredFile.inner(file), operation, argument)
        }
        methods.pointee.xSectorSize = { file in
            LayeredFile.below(file).xSectorSize(LayeredFile.inner(file))
        }
        methods.pointee.xDeviceCharacteristics = { file in
            // Not `SQLITE_IOCAP_SUBPAGE_READ`, which older headers do not have: pages are compared whole.
            LayeredFile.below(file).xDeviceCharacteristics(LayeredFile.inner(file)) & ~0x8000
        }
        return methods
    }
}
