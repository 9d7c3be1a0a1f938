import Foundation

/// A file of a LevelDB folder, opened for reading alone.
struct StoreFile {
    let name: String
    private let handle: FileHandle
    let size: Int

    /// Opens a file. Returns nil if the file is missing.
    ///
    /// - Throws: ``FirebaseStoreError/unreadable(file:reason:)``.
    init?(_ folder: URL, _ name: String) throws(FirebaseStoreError) {
        self.name = name
        let url = folder.appendingPathComponent(name)
        do {
            handle = try FileHandle(forReadingFrom: url)
            let end = try handle.seekToEnd()
            try handle.seek(toOffset: 0)
            size = Int(clamping: end)
        } catch {
            guard FileManager.default.fileExists(atPath: url.path) else { return nil }
            throw .unreadable(file: name, reason: error.localizedDescription)
        }
    }

    /// Returns the next bytes; fewer at the end, nil behind it.
    func read(upTo count: Int) throws(FirebaseStoreError) -> [UInt8]? {
        do { return try handle.read(upToCount: count).map { [UInt8]($0) } } catch {
            throw .unreadable(file: name, reason: error.localizedDescription)
        }
    }

    /// Returns exactly these bytes.
    func bytes(at offset: Int, count: Int) throws(FirebaseStoreError) -> [UInt8] {
        guard offset >= 0, count >= 0, offset <= size, count <= size - offset else {
            throw corrupted("it ends too early.")
        }
        if count == 0 { return [] }
        do { try handle.seek(toOffset: UInt64(offset)) } catch {
            throw .unreadable(file: name, reason: error.localizedDescription)
        }
        var bytes: [UInt8] = []
        while bytes.count < count, let more = try read(upTo: count - bytes.count), !more.isEmpty {
            bytes += more
        }
        guard bytes.count == count else { throw corrupted("it became shorter.") }
        return bytes
    }

    func corrupted(_ problem: String) -> FirebaseStoreError { .corrupted(name, problem) }

    func refuse(_ problem: String) -> FirebaseStoreError {
        .unknownForm(file: name, problem: problem)
    }

    /// Runs a parser over bytes of the file.
    ///
    /// - Parameter error: The error to throw if the bytes cannot be read.
    func parse<T>(
        _ bytes: some Collection<UInt8>, or error: FirebaseStoreError,
        _ body: (inout WireReader) throws(CodecError) -> T
    ) throws(FirebaseStoreError) -> T {
        let result: T? = Array(bytes).withUnsafeBufferPointer { buffer in
            var reader = WireReader(buffer)
            return try? body(&reader)
        }
        guard let result else { throw error }
        return result
    }
}
