import Foundation
import Synchronization
import TidemarkSystem

/// The bytes of an object on their way into a file. After an error, the next request continues
/// behind the bytes that are stored.
///
/// URLSession on Linux cannot be paused, and a body that arrives faster than the disk takes it
/// needs a temporary file of bounded size. So each request asks for a part of the object.
final class MediaDownload: Sendable {
    /// The result of a request.
    enum End: Hashable, Sendable {
        /// The object has more bytes.
        case more
        /// All bytes are stored, and are those of the object.
        case whole
        case refused(status: Int)
    }

    /// The object has another version than the stored bytes, or the answer has other bytes than the
    /// request. The next request begins at the first byte.
    struct Changed: Error {}

    private struct State {
        var status = 0
        var head = StorageWire.MediaHead()
        var digest = RunningDigest()
        /// The maximum number of bytes that were ever stored.
        var furthest: Int64 = 0
        /// False if Storage has refused a part, because the object has no bytes.
        var asksForParts = true
    }

    static let cannotStore = StorageError.unknown(
        message: "The file cannot be stored.", serverError: [:])

    private let file: Int32
    private let partBytes: Int64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: The path of the file. An existing file is replaced.
    ///   - partBytes: The maximum number of bytes of one request.
    init(to path: String, partBytes: Int64 = 64 << 20) throws(StorageError) {
        precondition(partBytes > 0)
        file = PrivateFiles.create(path)
        self.partBytes = partBytes
        if file < 0 { throw Self.cannotStore }
    }

    deinit { if file >= 0 { close(file) } }

    /// The maximum number of bytes that were ever stored. It never decreases.
    var furthest: Int64 { state.withLock { $0.furthest } }
    /// The number of stored bytes, and the size of the object or 0.
    var progress: (bytes: Int64, total: Int64) {
        state.withLock { ($0.digest.size, $0.head.size ?? 0) }
    }
    var status: Int { state.withLock { $0.status } }

    /// The header fields of the next request.
    var fields: [(name: String, value: String)] {
        state.withLock { state in
            let first = state.digest.size
            if !state.asksForParts { return [] }
            return [("range", "bytes=\(first)-\(first + partBytes - 1)")]
        }
    }

    /// Takes the head of an answer.
    ///
    /// - Throws: ``Changed``, or an error of the file.
    func begin(_ status: Int, _ head: StorageWire.MediaHead) throws {
        try state.withLock { state in
            state.status = status
            guard (200..<300).contains(status) else { return }
            let known = state.digest.size
            if status == 206, head.first == known, known == 0 || head.tag == state.head.tag {
                state.head = head
                return
            }
            try restart(&state)
            if status == 206 { throw Changed() }
            state.head = head
        }
    }

    private func restart(_ state: inout State) throws {
        state.digest = RunningDigest()
        guard ftruncate(file, 0) == 0, lseek(file, 0, SEEK_SET) == 0 else {
            throw Self.cannotStore
        }
    }

    func store(_ bytes: [UInt8]) throws(StorageError) {
        let code = state.withLock { state in
            bytes.withUnsafeBytes { memory in
                state.digest.add(memory)
                return FileCopy.write(memory, to: file)
            }
        }
        if code != 0 { throw Self.cannotStore }
        state.withLock { $0.furthest = max($0.furthest, $0.digest.size) }
    }

    /// Takes the end of an answer.
    ///
    /// - Throws: ``StorageError/nonMatchingChecksum`` if the stored bytes are not those of the
    ///   object; ``Changed``.
    func end() throws -> End {
        try state.withLock { state in
            if state.status == 416, state.asksForParts {
                // An object without bytes has no part.
                state.asksForParts = state.digest.size > 0
                if !state.asksForParts { return .more }
                try restart(&state)
                throw Changed()
            }
            guard (200..<300).contains(state.status) else {
                return .refused(status: state.status)
            }
            if state.status == 206, let size = state.head.size, state.digest.size < size {
                return .more
            }
            guard state.head.fits(state.digest.digest) else {
                throw StorageError.nonMatchingChecksum
            }
            return .whole
        }
    }
}
