public import Foundation

/// A cache that grows without bound: for ``FirestoreSettings/cacheSizeBytes`` and
/// ``PersistentCacheSettings``.
public let FirestoreCacheSizeUnlimited: Int64 = -1

/// The place of a client's cache: ``PersistentCacheSettings`` or ``MemoryCacheSettings``.
public protocol LocalCacheSettings: Sendable {}

/// A cache on disk, in the system's folder for an app's data.
public struct PersistentCacheSettings: LocalCacheSettings, Hashable {
    /// The maximum size in bytes, at least 1 MiB; ``FirestoreCacheSizeUnlimited`` for no limit.
    public let sizeBytes: Int64

    /// Creates the settings of a cache of at most 100 MiB.
    public init() { sizeBytes = 100 * 1024 * 1024 }

    public init(sizeBytes: NSNumber) { self.sizeBytes = sizeBytes.int64Value }
}

/// A cache in memory, which is lost with the client.
public struct MemoryCacheSettings: LocalCacheSettings {
    public let garbageCollectorSettings: any MemoryGarbageCollectorSettings

    public init() { self.init(garbageCollectorSettings: MemoryLRUGCSettings()) }

    public init(garbageCollectorSettings: any MemoryGarbageCollectorSettings) {
        self.garbageCollectorSettings = garbageCollectorSettings
    }
}

/// The rule by which a cache in memory removes documents: ``MemoryLRUGCSettings`` or
/// ``MemoryEagerGCSetting``.
public protocol MemoryGarbageCollectorSettings: Sendable {}

/// Removes the least recently used documents when the cache is too large.
public struct MemoryLRUGCSettings: MemoryGarbageCollectorSettings, Hashable {
    /// The maximum size in bytes, as in ``PersistentCacheSettings/sizeBytes``.
    public let sizeBytes: Int64

    /// Creates the settings of a cache of at most 100 MiB.
    public init() { sizeBytes = 100 * 1024 * 1024 }

    public init(sizeBytes: NSNumber) { self.sizeBytes = sizeBytes.int64Value }
}

/// Removes a document when no listener shows it and no write of it is pending.
public struct MemoryEagerGCSetting: MemoryGarbageCollectorSettings, Hashable {
    public init() {}
}

extension FirestoreSettings {
    /// The place and the maximum size of the cache. A folder that was set by ``cache`` stays.
    public var cacheSettings: any LocalCacheSettings {
        get {
            let values = values
            let size = NSNumber(value: values.cacheSizeBytes ?? FirestoreCacheSizeUnlimited)
            guard values.cache == .memory else { return PersistentCacheSettings(sizeBytes: size) }
            return MemoryCacheSettings(
                garbageCollectorSettings: values.freesAtOnce
                    ? MemoryEagerGCSetting() : MemoryLRUGCSettings(sizeBytes: size))
        }
        set {
            switch newValue {
            case let memory as MemoryCacheSettings:
                cache = .memory
                take(memory.garbageCollectorSettings)
            case let persistent as PersistentCacheSettings:
                if cache == .memory { cache = .standard }
                set(\.freesAtOnce, false)
                cacheSizeBytes = persistent.sizeBytes
            default: preconditionFailure("\(type(of: newValue)) is no kind of cache there is")
            }
        }
    }

    private func take(_ collector: any MemoryGarbageCollectorSettings) {
        set(\.freesAtOnce, collector is MemoryEagerGCSetting)
        cacheSizeBytes =
            (collector as? MemoryLRUGCSettings)?.sizeBytes ?? FirestoreCacheSizeUnlimited
    }
}
