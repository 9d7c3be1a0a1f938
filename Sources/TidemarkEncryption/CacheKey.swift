import Crypto
public import TidemarkSync

/// A key of 256 bits, for caches and nothing else. Keep it where the system keeps secrets, as in the keychain:
/// who has it can read the cache, and without it nobody can.
public struct CacheKey: Sendable {
    /// How many bytes a key has.
    public static let byteCount = 32

    /// What to store, for ``init(_:)``.
    public let bytes: [UInt8]

    /// - Parameter bytes: As of ``bytes``; nil is returned where there are not ``byteCount`` of them.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// A new key, from the system's source of random numbers.
    public static func random() -> CacheKey {
        CacheKey(SymmetricKey(size: .bits256).withUnsafeBytes(Array.init))!
    }
}

extension CacheEncryption {
    /// Encrypts each page of the cache with AES-256-GCM.
    ///
    /// - Parameter key: Called on the client's own thread whenever a file is opened: at the first use of a
    ///   client, at a change of the user, after a pause. What it throws is
    ///   `StorageFault.keyUnavailable(detail:)`, and it is called again later.
    public static func aes256(
        key: @escaping @Sendable () throws -> CacheKey
    ) -> CacheEncryption {
        CacheEncryption { AppKey(try key()) }
    }
}
