package import TidemarkStore

/// The encryption of a cache on the device. The module `TidemarkEncryption` creates it from a
/// function that returns the key.
public struct CacheEncryption: Sendable {
    package let key: StoreKeySource

    package init(key: @escaping StoreKeySource) { self.key = key }
}
