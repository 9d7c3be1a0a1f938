package import TidemarkStore

/// How a cache is encrypted on the device. The module `TidemarkEncryption` makes it, of a function that
/// gives the key.
public struct CacheEncryption: Sendable {
    package let key: StoreKeySource

    package init(key: @escaping StoreKeySource) { self.key = key }
}
