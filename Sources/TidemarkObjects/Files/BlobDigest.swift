import Crypto

/// The running digests of the bytes of a blob.
///
/// MD5 and CRC-32C are the checksums of the protocol. They find damage and give no security.
package struct BlobDigest: Sendable {
    /// The number of bytes so far.
    package private(set) var size: Int64 = 0
    private var md5 = Insecure.MD5()
    private var crc = CRC32C()

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        md5.update(bufferPointer: bytes)
        crc.update(bytes)
        size += Int64(bytes.count)
    }

    package var contents: ObjectContents {
        ObjectContents(size: size, md5: Array(md5.finalize()), crc32c: crc.value)
    }
}
