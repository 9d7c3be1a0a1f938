/// Encrypts the pages of one file, and says of each whether it is what was written there: a port, so that
/// a store without encryption needs no cryptography. `TidemarkEncryption` has the cipher.
///
/// Used within the lock of its store, one thread at a time.
package protocol PageCipher: AnyObject {
    /// Encrypts `bytes` in place.
    ///
    /// - Parameters:
    ///   - seal: Of ``SealedPage/sealSize`` bytes: what ``open(_:_:_:)`` needs.
    ///   - place: The bytes open at this place alone.
    /// - Returns: False when that failed; the bytes are then unchanged.
    func seal(
        _ bytes: UnsafeMutableRawBufferPointer, _ seal: UnsafeMutableRawBufferPointer,
        _ place: PagePlace
    ) -> Bool

    /// Decrypts `bytes` in place.
    ///
    /// - Returns: False for what was not sealed so at this place; the bytes are then unchanged.
    func open(
        _ bytes: UnsafeMutableRawBufferPointer, _ seal: UnsafeRawBufferPointer, _ place: PagePlace
    ) -> Bool

    /// As ``open(_:_:_:)``, of bytes that may be damaged: who saves what is left of a file wants them.
    ///
    /// - Returns: False when that failed; the bytes are then unchanged.
    func decrypt(
        _ bytes: UnsafeMutableRawBufferPointer, _ seal: UnsafeRawBufferPointer
    ) -> Bool
}

/// What a seal says besides the contents, so that no page or message can take another one's place.
package struct PagePlace {
    package let words: (UInt64, UInt64, UInt64)

    /// Of a page of the file.
    init(page number: Int64) { words = (UInt64(number), 0, 0) }

    /// Of a message of an inbox: no page of a log stands so far behind.
    ///
    /// - Parameter name: The sum of its name.
    init(message name: UInt64) { words = (name, .max, 0) }

    /// Of a page of the log.
    ///
    /// - Parameters:
    ///   - place: In the log, from 0.
    ///   - header: The page's header in the log: its number, how long the file is then, the log's salts.
    init(log place: Int, _ header: UnsafeRawBufferPointer) {
        words = (
            header.loadUnaligned(as: UInt64.self), UInt64(place) + 1,
            header.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        )
    }
}

/// The app's key: makes the cipher of each file.
package protocol StoreKey: Sendable {
    /// A new salt, of ``SealedHeader/saltSize`` random bytes.
    func makeSalt() -> [UInt8]

    /// The cipher of the file with this salt, and a value that says whether the key is the one that the
    /// file was made with, and nothing of the key.
    func cipher(salt: [UInt8]) -> (cipher: any PageCipher, check: UInt64)
}

/// Gives the app's key when a file is opened. Throws when it cannot now, as on a locked device.
package typealias StoreKeySource = @Sendable () throws -> any StoreKey
