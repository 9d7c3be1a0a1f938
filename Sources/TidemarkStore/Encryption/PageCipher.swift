/// Encrypts what lies in one file, and says of each piece whether it is what was written there: a port, so
/// that a store without encryption needs no cryptography. `TidemarkEncryption` has the cipher.
///
/// An encrypted message is a box: the number used once, the message, and the tag, ``SealedBox/overhead``
/// bytes more than the message has.
///
/// Two threads may use it at once.
package protocol PageCipher: AnyObject, Sendable {
    /// Encrypts `message`.
    ///
    /// - Parameters:
    ///   - box: Where the box is written to, of just its length.
    ///   - place: The box opens at this place alone. Nil for a message that itself says where it belongs,
    ///     which costs a quarter less to open.
    /// - Returns: False when that failed.
    func seal(
        _ message: UnsafeRawBufferPointer, into box: UnsafeMutableRawBufferPointer,
        at place: PagePlace?
    ) -> Bool

    /// Decrypts the message in `box`.
    ///
    /// - Parameter message: Where it is written to, of just its length.
    /// - Returns: False for what was not sealed so at this place; nothing is written then.
    func open(
        _ box: UnsafeRawBufferPointer, into message: UnsafeMutableRawBufferPointer,
        at place: PagePlace?
    ) -> Bool

    /// As ``open(_:into:at:)``, of bytes that may be damaged: who saves what is left of a file wants them.
    ///
    /// - Returns: False when that failed; nothing is written then.
    func decrypt(
        _ box: UnsafeRawBufferPointer, into message: UnsafeMutableRawBufferPointer
    ) -> Bool
}

/// How a box of a ``PageCipher`` lies in memory and on disk: the number, the message, the tag.
package enum SealedBox {
    /// Bytes of the number and of the tag.
    package static let overhead = 12 + 16
}

/// What a box says besides the message, so that no message can take another one's place.
package struct PagePlace {
    package let words: (UInt64, UInt64, UInt64)

    /// Of a message of an inbox: no page of a log stands so far behind.
    ///
    /// - Parameter name: The sum of its name.
    init(message name: UInt64) { words = (name, .max, 0) }

    /// Of pages of the log.
    ///
    /// - Parameters:
    ///   - place: Of the first, in the log, from 0.
    ///   - count: How many there are; at most 255.
    ///   - header: The first one's header in the log: its number, how long the file is then, the log's salts.
    init(log place: Int, count: Int, _ header: UnsafeRawBufferPointer) {
        words = (
            header.loadUnaligned(as: UInt64.self), UInt64(place + 1) << 8 | UInt64(count),
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
