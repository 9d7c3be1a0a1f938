import TidemarkSystem

/// Reads the bytes of a blob. An open reader reads to the end even after the object is deleted.
package final class BlobReader: Sendable {
    /// The number of bytes that one call reads at most.
    package static let pieceBytes = 262_144

    private let file: Int32
    package let size: Int64

    /// - Returns: Nil if there is no such blob.
    package init?(_ blob: BlobID, in folder: BlobFolder) throws(ObjectRefusal) {
        file = open(folder.file(of: blob), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if file < 0 {
            if errno == ENOENT { return nil }
            throw BlobFolder.failure(errno)
        }
        var status = stat()
        guard fstat(file, &status) == 0 else {
            let code = errno
            close(file)
            throw BlobFolder.failure(code)
        }
        size = Int64(status.st_size)
    }

    deinit { if file >= 0 { close(file) } }

    /// Reads at most ``pieceBytes`` bytes, fewer at the end of the blob.
    package func read(at offset: Int64, count: Int) throws(ObjectRefusal) -> [UInt8] {
        let wanted = min(count, Self.pieceBytes)
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            while filled < wanted {
                let count = pread(
                    file, buffer.baseAddress! + filled, wanted - filled,
                    off_t(offset) + off_t(filled))
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = errno }
                if count <= 0 { return }
                filled += count
            }
        }
        if failure != 0 { throw BlobFolder.failure(failure) }
        return bytes
    }

    /// Computes the digests of the first `length` bytes.
    ///
    /// - Throws: ``ObjectRefusal`` if the disk fails, or if the blob is shorter.
    package func digest(upTo length: Int64) throws(ObjectRefusal) -> BlobDigest {
        var digest = BlobDigest()
        while digest.size < length {
            let count = Int(min(Int64(Self.pieceBytes), length - digest.size))
            let bytes = try read(at: digest.size, count: count)
            guard !bytes.isEmpty else {
                throw .unavailable("A file with an upload's bytes is shorter than it was.")
            }
            bytes.withUnsafeBytes { digest.update($0) }
        }
        return digest
    }
}
