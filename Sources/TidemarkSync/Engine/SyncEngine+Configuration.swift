public import TidemarkModel

extension SyncEngine {
    public struct Configuration: Hashable, Sendable {
        public var database: DatabaseID
        /// The path of the cache's file; nil for a cache in memory.
        public var cacheFile: String?
        /// The user whose cache and queue of writes are opened, in a separate file beside
        /// ``cacheFile``. Nil for no user, whose file is ``cacheFile``.
        public var user: String?
        /// True for FirebaseFirestore's behaviour: all users share one cache, and only the queue of
        /// writes is separate. Each user then sees what the previous user has read.
        public var sharesCacheBetweenUsers: Bool
        /// The label in the server's read meter.
        public var label: String?
        /// The maximum number of concurrent requests for documents in limbo; others wait.
        public var maxLimboResolutions: Int
        /// The maximum number of batches in the queue of writes, which are also kept in memory.
        /// Further writes are rejected.
        public var maxPendingWrites: Int
        /// A bearer token for every call; nil for none.
        public var token: String?
        /// The maximum size of the cache in bytes. Beyond it, the least recently used data is
        /// removed. Nil for no limit. Source of the default: client-engine 2.0, "Cache size".
        public var cacheSizeBytes: Int64?
        /// The behaviour if another engine has the cache open.
        public var busyCache = BusyCache.fail
        /// True to remove unused data within a second, and not only when the cache is full.
        public var freesAtOnce = false
        /// The budgets of daily reads, and their consequences.
        public var readBudgets: [ReadBudget] = []
        /// The bounds at which a listener with endless reads is stopped.
        public var stormBounds = StormBreaker.Bounds()

        public init(
            database: DatabaseID, cacheFile: String?, user: String? = nil,
            sharesCacheBetweenUsers: Bool = false, label: String? = nil,
            maxLimboResolutions: Int = 100, maxPendingWrites: Int = 100_000,
            cacheSizeBytes: Int64? = 100 * 1024 * 1024,
            token: String? = nil
        ) {
            precondition(maxLimboResolutions > 0 && maxPendingWrites > 0)
            self.database = database
            self.cacheFile = cacheFile
            self.user = user
            self.sharesCacheBetweenUsers = sharesCacheBetweenUsers
            self.label = label
            self.maxLimboResolutions = maxLimboResolutions
            self.maxPendingWrites = maxPendingWrites
            self.token = token
            self.cacheSizeBytes = cacheSizeBytes
        }
    }

    /// The behaviour if another engine, in this or another process, has the cache open.
    public enum BusyCache: Hashable, Sendable {
        /// Opening fails.
        case fail
        /// Reads the cache as it was at that moment. The engine never asks the server and refuses
        /// writes.
        case view
        /// Follows the changes of the other engine, leaves writes for it, and takes the cache over
        /// when no engine has it.
        case share(ProcessRole)
    }

    /// The role that decides which of several processes holds the cache.
    public enum ProcessRole: Hashable, Sendable {
        /// Asks for the cache.
        case app
        /// Hands the cache over to an app that asks.
        case helper
    }

    public struct ListenOptions: Hashable, Sendable {
        public var includeMetadataChanges: Bool
        /// The source. `.cache` never asks the server. `.server` waits for the server before the
        /// first snapshot, unless the server is known to be unreachable.
        public var source: ReadSource
        /// The tag for which reads are counted. Listeners to the same query share a listen, which
        /// is counted for the first one.
        public var tag: ReadTag

        public init(
            includeMetadataChanges: Bool = false, source: ReadSource = .default,
            tag: ReadTag = ReadTag()
        ) {
            self.includeMetadataChanges = includeMetadataChanges
            self.source = source
            self.tag = tag
        }
    }

    /// The state of a write after the call that made it.
    public enum WriteEvent: Hashable, Sendable {
        /// The write is in the durable queue and will be sent, even after a kill.
        case journalled(batch: Int64)
        case acknowledged(commitTime: Timestamp)
        case failed(SyncError)
    }
}
