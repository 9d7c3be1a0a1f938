import TidemarkEncryption
import TidemarkStore
import TidemarkSync

/// The form of a test's files on its disk.
enum AtRest: CaseIterable {
    case plain, encrypted

    private static let appKey = CacheKey((0..<32).map { UInt8($0) })!
    static let otherKey = CacheEncryption.aes256 { CacheKey.random() }.key

    /// The key for stores, or nil for plain files.
    var key: StoreKeySource? {
        self == .plain ? nil : CacheEncryption.aes256 { Self.appKey }.key
    }
}
