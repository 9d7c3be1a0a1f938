/// Encrypts and authenticates the contents of one file. A protocol, so that a store without
/// encryption needs no cryptography; `TidemarkEncryption` implements it.
///
/// An encrypted message is a box: the nonce, the ciphertext and the tag. A box is
/// ``SealedBox/overhead`` bytes longer than its message.
///
/// Two threads may use a cipher concurrently.
package protocol PageCipher: AnyObject, Sendable {
    /// Encrypts `message`.
    ///
    /// - Parameters:
    ///   - box: The memory for the box, of exactly its length.
    ///   - place: The position to which the box is bound. Nil for a message that contains its own
    ///     position; opening such a box costs a quarter less.
    /// - Returns: False if encryption failed.
    func seal(
        _ message: UnsafeRawBufferPointer, into box: UnsafeMutableRawBufferPointer,
        at place: PagePlace?
    ) -> Bool

    /// Decrypts and verifies the message in `box`.
    ///
    /// - Parameter message: The memory for the message, of exactly its length.
    /// - Returns: False if the box was not sealed so at this position; nothing is written then.
    func open(
        _ box: UnsafeRawBufferPointer, into message: UnsafeMutableRawBufferPointer,
        at place: PagePlace?
    ) -> Bool

    /// Like ``open(_:into:at:)`` without verification, for salvaging a damaged file.
    ///
    /// - Returns: False if decryption failed; nothing is written then.
    func decrypt(
        _ box: UnsafeRawBufferPointer, into message: UnsafeMutableRawBufferPointer
    ) -> Bool
}

/// The layout of a ``PageCipher``'s box in memory and on disk: nonce, ciphertext, tag.
package enum SealedBox {
    /// The bytes of the nonce and of the tag.
    package static let overhead = 12 + 16
}

/// The position that is authenticated with a message, so that no message can replace another one.
package struct PagePlace {
    package let words: (UInt64, UInt64, UInt64)

    /// The position of a message of an inbox. It differs from every position in a log.
    ///
    /// - Parameter name: A checksum of the message's name.
    init(message name: UInt64) { words = (name, .max, 0) }

    /// The position of pages in the log.
    ///
    /// - Parameters:
    ///   - place: The position of the first page in the log, from 0.
    ///   - count: The number of pages, at most 255.
    ///   - header: The first page's header in the log: page number, length of the file, the log's
    ///     salts.
    init(log place: Int, count: Int, _ header: UnsafeRawBufferPointer) {
        words = (
            header.loadUnaligned(as: UInt64.self), UInt64(place + 1) << 8 | UInt64(count),
            header.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        )
    }
}

/// The app's key, which makes the cipher of each file.
package protocol StoreKey: Sendable {
    /// Returns a new salt of ``SealedHeader/saltSize`` random bytes.
    func makeSalt() -> [UInt8]

    /// Returns the cipher for a salt, and a value that identifies the right key without revealing
    /// anything about the key.
    func cipher(salt: [UInt8]) -> (cipher: any PageCipher, check: UInt64)
}

/// Returns the app's key when a file is opened. Throws if the key is not available now, as on a
/// locked device.
package typealias StoreKeySource = @Sendable () throws -> any StoreKey
