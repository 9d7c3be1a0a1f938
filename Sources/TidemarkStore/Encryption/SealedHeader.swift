import CTidemarkSQLite

/// The unencrypted first 36 bytes of an encrypted file: a marker, the salt of its cipher, and a
/// check value of the key.
///
/// A checksum distinguishes a damaged header from the header of another key.
package struct SealedHeader: Equatable {
    static let size = 36
    package static let saltSize = 12
    /// The version of the format. Version 2 derived a file's key without HKDF.
    package static let version: UInt8 = 3
    private static let name = Array("tdm".utf8)

    var salt: [UInt8]
    /// The check value of ``StoreKey/cipher(salt:)``.
    var check: UInt64

    /// The kind of a file's beginning.
    enum Reading: Equatable {
        /// An unknown beginning, or an empty file.
        case unknown
        /// The beginning of an unencrypted database.
        case plain
        case sealed(SealedHeader)
        /// An intact header of another version of the format.
        case otherVersion(UInt8)
        /// The damaged header of an encrypted file.
        case damaged
    }

    /// - Parameter bytes: The beginning of the file, at least ``size`` bytes.
    static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        if bytes.starts(with: SealedPage.plainBeginning) { return .plain }
        let contents = UnsafeRawBufferPointer(rebasing: bytes[4..<28])
        let header = SealedHeader(
            salt: Array(contents.prefix(saltSize)),
            check: contents.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        let sum = bytes.loadUnaligned(fromByteOffset: 28, as: UInt64.self)
        if sum == self.sum(of: contents, version: version) { return .sealed(header) }
        guard bytes.starts(with: name) else { return .unknown }
        let other = bytes[name.count]
        if other == version { return .damaged }
        return sum == self.sum(of: contents, version: other) ? .otherVersion(other) : .unknown
    }

    /// - Parameter bytes: The memory for the header, at least ``size`` bytes.
    func write(to bytes: UnsafeMutableRawBufferPointer) {
        precondition(salt.count == Self.saltSize)
        bytes.copyBytes(from: Self.name + [Self.version])
        UnsafeMutableRawBufferPointer(rebasing: bytes[4...]).copyBytes(from: salt)
        bytes.storeBytes(of: 0, toByteOffset: 16, as: UInt32.self)
        bytes.storeBytes(of: check, toByteOffset: 20, as: UInt64.self)
        let contents = UnsafeRawBufferPointer(rebasing: bytes[4..<28])
        let sum = Self.sum(of: contents, version: Self.version)
        bytes.storeBytes(of: sum, toByteOffset: 28, as: UInt64.self)
    }

    /// Returns the checksum of the salt and the check value. It differs from the ``PageChecksum``
    /// of zeros, so a header of zeros is invalid. It depends on the version, so a damaged version
    /// is not taken for another one.
    private static func sum(of contents: UnsafeRawBufferPointer, version: UInt8) -> UInt64 {
        PageChecksum.of(contents, number: 0x7464_6d30 + UInt64(version))
    }
}

extension SealedHeader {
    /// Returns the kind of the beginning of a connection's file, read below this library's layer.
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
