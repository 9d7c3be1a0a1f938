import CTidemarkSQLite

extension LogBuffer {
    /// Writes the buffered bytes to the file below `file`. If the write fails, the bytes are
    /// dropped, because SQLite repeats the transaction.
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

    /// Buffers appended bytes, or writes them after everything buffered.
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
