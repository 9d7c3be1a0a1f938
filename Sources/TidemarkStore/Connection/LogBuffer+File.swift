import GRDBSQLite

extension LogBuffer {
    /// Writes what is kept to the file below `file`. What could not be written is not kept: SQLite does
    /// the transaction anew.
    ///
    /// - Returns: SQLite's code.
    mutating func flush(to file: LayeredFile.File) -> Int32 {
        if isEmpty { return SQLITE_OK }
        defer { forget() }
        return bytes.withUnsafeBytes { bytes in
            LayeredFile.below(file).xWrite(
                LayeredFile.inner(file), bytes.baseAddress, Int32(bytes.count), offset)
        }
    }

    /// Keeps what is appended, or writes it behind all that is kept.
    ///
    /// - Returns: SQLite's code.
    mutating func append(
        _ new: UnsafeRawBufferPointer, at place: Int64, to file: LayeredFile.File
    ) -> Int32 {
        switch add(new, at: place) {
        case .kept: return SQLITE_OK
        case .complete: return flush(to: file)
        case .refused:
            let code = flush(to: file)
            guard code == SQLITE_OK else { return code }
            return LayeredFile.below(file).xWrite(
                LayeredFile.inner(file), new.baseAddress, Int32(new.count), place)
        }
    }
}
