import Crypto
public import TidemarkSync

/// A key of 256 bits for caches only. Keep it in the system's store for secrets, such as the
/// keychain. Anyone with the key can read the cache; without it, the cache is unreadable.
public struct CacheKey: Sendable {
    /// The length of a key in bytes.
    public static let byteCount = 32

    /// The bytes to store, for ``init(_:)``.
    public let bytes: [UInt8]

    /// - Parameter bytes: The bytes of a stored key. The result is nil if their number is not
    ///   ``byteCount``.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Returns a new key from the system's random numbers.
    public static func random() -> CacheKey {
        CacheKey(SymmetricKey(size: .bits256).withUnsafeBytes(Array.init))!
    }
}

extension CacheEncryption {
    /// Encrypts each page of the cache with AES-256-GCM.
    ///
    /// - Parameter key: Returns the key. Called on the client's own thread whenever a file is
    ///   opened: at the first use of a client, at a change of the user, and after a pause. An error
    ///   becomes `StorageFault.keyUnavailable(detail:)`, and the function is called again later.
    public static func aes256(
        key: @escaping @Sendable () throws -> CacheKey
    ) -> CacheEncryption {
        CacheEncryption { AppKey(try key()) }
    }
}
