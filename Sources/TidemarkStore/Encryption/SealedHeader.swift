import GRDBSQLite

/// What an encrypted file says of itself in the clear, in its first 36 bytes: that it is one, with which
/// salt its cipher is made, and which key that takes.
///
/// A sum of its own tells a header that was damaged from one of another key.
package struct SealedHeader: Equatable {
    static let size = 36
    package static let saltSize = 12
    private static let marker = Array("tdm\u{2}".utf8)

    var salt: [UInt8]
    /// As of ``StoreKey/cipher(salt:)``.
    var check: UInt64

    /// What the beginning of a file is.
    enum Reading: Equatable {
        /// No beginning that anybody knows, or none at all.
        case unknown
        /// Of a database that is not encrypted.
        case plain
        case sealed(SealedHeader)
        /// Of an encrypted file, and not as it was written.
        case damaged
    }

    /// - Parameter bytes: At least ``size``.
    static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        if bytes.starts(with: SealedPage.plainBeginning) { return .plain }
        let contents = UnsafeRawBufferPointer(rebasing: bytes[4..<28])
        let header = SealedHeader(
            salt: Array(contents.prefix(saltSize)),
            check: contents.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        let sum = bytes.loadUnaligned(fromByteOffset: 28, as: UInt64.self)
        if sum == self.sum(of: contents) { return .sealed(header) }
        return bytes.starts(with: marker) ? .damaged : .unknown
    }

    /// - Parameter bytes: At least ``size``.
    func write(to bytes: UnsafeMutableRawBufferPointer) {
        precondition(salt.count == Self.saltSize)
        bytes.copyBytes(from: Self.marker)
        UnsafeMutableRawBufferPointer(rebasing: bytes[4...]).copyBytes(from: salt)
        bytes.storeBytes(of: 0, toByteOffset: 16, as: UInt32.self)
        bytes.storeBytes(of: check, toByteOffset: 20, as: UInt64.self)
        let sum = Self.sum(of: UnsafeRawBufferPointer(rebasing: bytes[4..<28]))
        bytes.storeBytes(of: sum, toByteOffset: 28, as: UInt64.self)
    }

    /// Of the salt and the check value. Not what ``PageChecksum`` says of as many zeros, so that no header
    /// of zeros is one.
    private static func sum(of contents: UnsafeRawBufferPointer) -> UInt64 {
        PageChecksum.of(contents, number: 0x7464_6d32)
    }
}

extension SealedHeader {
    /// How the file of a connection begins, looked for below our layer.
    static func reading(in handle: OpaquePointer) -> Reading {
        guard let file = LayeredFile.ofDatabase(handle) else { return .unknown }
        return reading(of: file)
    }

    static func reading(of file: LayeredFile.File) -> Reading {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { bytes in
            let code = LayeredFile.below(file).xRead(
                LayeredFile.inner(file), bytes.baseAddress, Int32(size), 0)
            return code == SQLITE_OK ? read(UnsafeRawBufferPointer(bytes)) : .unknown
        }
    }
}
