import CTidemarkSQLite

/// A file opened by this layer, in memory that SQLite provides: this layer's record, which begins
/// with SQLite's record, followed by the file of the layer below.
enum LayeredFile {
    typealias File = UnsafeMutablePointer<sqlite3_file>
    typealias Methods = UnsafeMutablePointer<sqlite3_io_methods>

    /// The offset of the file below, rounded up to its alignment.
    static let sizeBeforeFile =
        (max(
            MemoryLayout<OpenLog>.size, MemoryLayout<OpenDatabase>.size,
            MemoryLayout<SealedLog>.size, MemoryLayout<SealedDatabase>.size) + 15) & ~15

    /// `SQLITE_IOERR_DATA`, which is a macro: the data read differs from the data written.
    static let damaged = SQLITE_IOERR | 32 << 8
    /// `SQLITE_IOERR_SHORT_READ`, which is a macro: the file ends within the range, and the rest
    /// reads as zeros.
    static let shortRead = SQLITE_IOERR | 2 << 8
    /// `SQLITE_IOERR_READ` and `SQLITE_IOERR_WRITE`, which are macros.
    static let (failedRead, failedWrite) = (SQLITE_IOERR | 1 << 8, SQLITE_IOERR | 3 << 8)

    static func inner(_ file: File?) -> File {
        (UnsafeMutableRawPointer(file!) + sizeBeforeFile)
            .assumingMemoryBound(to: sqlite3_file.self)
    }

    /// Returns the open file of a connection; nil if it was not opened by this layer.
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

    /// Returns methods that forward every call. The caller replaces close, read, write, truncate
    /// and sync, which are missing.
    ///
    /// The methods have version 1, without shared and mapped memory: a store is the only user of
    /// its file, and reads from mapped memory would bypass the checksums.
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
            // Clears `SQLITE_IOCAP_SUBPAGE_READ`, which older headers lack, because whole pages are
            // compared.
            LayeredFile.below(file).xDeviceCharacteristics(LayeredFile.inner(file)) & ~0x8000
        }
        return methods
    }
}
