import Synchronization
import TidemarkSystem

/// Appends bytes to a blob, and keeps its digests.
///
/// Bytes are written in blocks that end at multiples of ``granularity``. After an upload that was
/// cut, the file therefore has a whole number of blocks. Calls block their thread for the disk.
package final class BlobWriter: Sendable {
    /// The size of a block, which the protocol announces to clients. Source: storage A3.
    package static let granularity = 262_144

    private struct State {
        var file: Int32
        var digest: BlobDigest
        /// The bytes that are not written yet.
        var pending: [UInt8] = []
        /// The size up to which the file is synced.
        var synced: Int64
    }

    private let state: Mutex<State>

    /// Makes a new blob.
    package init(new blob: BlobID, in folder: BlobFolder) throws(ObjectRefusal) {
        state = Mutex(State(file: try folder.create(blob), digest: BlobDigest(), synced: 0))
    }

    /// Continues a blob after the bytes of `digest`. Bytes beyond them are removed.
    package init(
        _ blob: BlobID, after digest: BlobDigest, in folder: BlobFolder
    ) throws(ObjectRefusal) {
        let file = try folder.openForAppending(blob, length: digest.size)
        state = Mutex(State(file: file, digest: digest, synced: digest.size))
    }

    /// Copies a file to a new blob, and syncs it.
    ///
    /// - Parameter path: The file, which must not be a link.
    package static func copy(
        of path: String, to blob: BlobID, in folder: BlobFolder
    ) throws(ObjectRefusal) -> ObjectContents {
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw BlobFolder.failure(errno) }
        defer { close(source) }
        let writer = try BlobWriter(new: blob, in: folder)
        var bytes = [UInt8](repeating: 0, count: granularity)
        while true {
            let count = bytes.withUnsafeMutableBytes {
                SystemCalls.readBytes(source, to: $0.baseAddress!, count: $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw BlobFolder.failure(errno) }
            if count == 0 { break }
            let part = Array(bytes[..<count])
            var failure: ObjectRefusal?
            part.withUnsafeBytes { part in
                do throws(ObjectRefusal) { try writer.append(part) } catch { failure = error }
            }
            if let failure { throw failure }
        }
        try writer.flush()
        try writer.sync()
        return writer.digest.contents
    }

    deinit { _ = state.withLock { close($0.file) } }

    /// The number of bytes that are synced to disk.
    package var syncedBytes: Int64 { state.withLock { $0.synced } }

    /// The digests of the written bytes. Bytes of an incomplete block are not among them.
    package var digest: BlobDigest { state.withLock { $0.digest } }

    /// - Throws: ``ObjectRefusal`` if the disk is full or fails.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(ObjectRefusal) {
        try state.withLock { (state) throws(ObjectRefusal) in
            var rest = bytes
            while !rest.isEmpty {
                let room = Self.room(state)
                let count = min(room, rest.count)
                let part = UnsafeRawBufferPointer(rebasing: rest[..<count])
                if count == Self.granularity {
                    try Self.write(part, &state)
                } else {
                    state.pending.append(contentsOf: part)
                    if count == room { try Self.flush(&state) }
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// Returns the number of bytes up to the end of the present block.
    private static func room(_ state: State) -> Int {
        let end = state.digest.size + Int64(state.pending.count)
        return granularity - Int(end % Int64(granularity))
    }

    /// Writes the bytes of an incomplete block too. The upload has all its bytes.
    package func flush() throws(ObjectRefusal) {
        try state.withLock { (state) throws(ObjectRefusal) in try Self.flush(&state) }
    }

    private static func flush(_ state: inout State) throws(ObjectRefusal) {
        let pending = state.pending
        state.pending.removeAll(keepingCapacity: true)
        var failure: ObjectRefusal?
        pending.withUnsafeBytes { bytes in
            do throws(ObjectRefusal) { try write(bytes, &state) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, _ state: inout State
    ) throws(ObjectRefusal) {
        var done = 0
        while done < bytes.count {
            // The start of a block that failed before is written again at the same place.
            let count = pwrite(
                state.file, bytes.baseAddress! + done, bytes.count - done,
                off_t(state.digest.size) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw BlobFolder.failure(errno) }
            done += count
        }
        state.digest.update(bytes)
    }

    /// Returns when all written bytes are on the disk.
    ///
    /// - Returns: The number of bytes that are on the disk.
    @discardableResult
    package func sync() throws(ObjectRefusal) -> Int64 {
        try state.withLock { (state) throws(ObjectRefusal) in
            if state.synced < state.digest.size {
                guard SystemCalls.syncToDisk(state.file) == 0 else {
                    throw BlobFolder.failure(errno)
                }
                state.synced = state.digest.size
            }
            return state.synced
        }
    }
}
