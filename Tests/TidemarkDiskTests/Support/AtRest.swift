import TidemarkEncryption
import TidemarkStore
import TidemarkSync

/// How the files of a test lie on its disk.
enum AtRest: CaseIterable {
    case plain, encrypted

    private static let appKey = CacheKey((0..<32).map { UInt8($0) })!
    static let otherKey = CacheEncryption.aes256 { CacheKey.random() }.key

    /// For stores; nil for those that are not encrypted.
    var key: StoreKeySource? {
        self == .plain ? nil : CacheEncryption.aes256 { Self.appKey }.key
    }
}
