public import TidemarkModel

extension SyncEngine {
    public struct Configuration: Hashable, Sendable {
        public var database: DatabaseID
        /// The cache's file; nil for one in memory.
        public var cacheFile: String?
        /// Whose cache and queue of writes it opens: a file of its own beside ``cacheFile``. Nil
        /// for nobody in particular, whose file that is.
        public var user: String?
        /// As FirebaseFirestore has it: one cache for all users, and only the queue of writes is
        /// each one's own. What one user has read, the next one sees.
        public var sharesCacheBetweenUsers: Bool
        /// For the server's read meter.
        public var label: String?
        /// How many documents in limbo are asked for at once; the others wait.
        public var maxLimboResolutions: Int
        /// How many batches the queue of writes holds; a write beyond is refused. They are kept in
        /// memory too.
        public var maxPendingWrites: Int
        /// A bearer token for every call; nil for none.
        public var token: String?
        /// What the cache may take, in bytes: beyond it, what was used the longest ago goes. Nil for
        /// no bound. Source of the default: client-engine 2.0, "Cache size".
        public var cacheSizeBytes: Int64?
        /// What is done about a cache that somebody else has open.
        public var busyCache = BusyCache.fail
        /// Whether what is not in use any more goes within a second, and not when the cache is full.
        public var freesAtOnce = false
        /// What of a day may be read, and what happens then.
        public var readBudgets: [ReadBudget] = []
        /// When a listener that costs without an end is stopped.
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

    /// What an engine does about a cache that another engine, in this or another process, has open.
    public enum BusyCache: Hashable, Sendable {
        /// Opening it fails.
        case fail
        /// It is read as it was at that moment: the engine asks no server and refuses writes.
        case view
        /// It is read as the other engine changes it; writes are left for that engine; and the cache is
        /// taken over when nobody has it.
        case share(ProcessRole)
    }

    /// Who of several processes is to have the cache.
    public enum ProcessRole: Hashable, Sendable {
        /// Asks for it.
        case app
        /// Hands it over to an app that asks.
        case helper
    }

    public struct ListenOptions: Hashable, Sendable {
        public var includeMetadataChanges: Bool
        /// `.cache` never asks the server. `.server` waits for it with the first snapshot, unless
        /// it is known to be out of reach.
        public var source: ReadSource
        /// Whom its reads are counted for. Listeners of one query share one listen: it is the first
        /// one's.
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

    /// What a write has come to, beyond the call that made it.
    public enum WriteEvent: Hashable, Sendable {
        /// In the durable queue: it will be sent, also after a kill.
        case journalled(batch: Int64)
        case acknowledged(commitTime: Timestamp)
        case failed(SyncError)
    }
}
