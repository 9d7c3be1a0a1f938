public import Dispatch
import Foundation
import Synchronization

/// How a ``Firestore`` reaches its server and where it keeps its cache.
///
/// Taken over when a client is made or given them: what is changed here later changes no client.
/// Thread-safe.
public final class FirestoreSettings: Sendable {
    public enum Cache: Hashable, Sendable {
        /// In memory; lost with the client, the queue of writes too.
        case memory
        /// In this folder, which is made if it is missing: one SQLite file for each database and
        /// user. One client at a time may open it, unless ``FirestoreSettings/onBusyCache`` says
        /// otherwise. On Apple's systems the folder is kept out of backups.
        case directory(String)
        /// In the system's folder for an app's data, by the name of the process:
        /// `~/.local/share` on Linux, `Library/Application Support` on Apple's systems.
        case standard
    }

    /// What a client does when another client, in this or another process, has its cache open.
    public enum BusyCache: Hashable, Sendable {
        /// Opening fails with ``StorageFault/locked``, at once.
        case fail
        /// The client reads what the cache held at that moment, and nothing else: it asks no
        /// server, and refuses writes with ``StorageFault/locked``. Costs a copy of the cache's
        /// file.
        case readOnly
        /// Several processes use the cache, as an app and its widget do: all of them are opened so. One holds
        /// it: asks the server, and sends. The others show what it stores, with a delay of some 0.1 s, and
        /// keep their writes for it, which it sends within 0.3 s; what they ask the server alone for throws
        /// `unavailable`. When the one that holds it ends, is suspended or is killed, another one takes over
        /// within 0.3 s. Costs a copy of the cache's file whenever it has changed, on another thread and a
        /// tenth of the time at most.
        case shared(CacheRole)
    }

    /// Who of several processes is to hold the cache that they share.
    public enum CacheRole: Hashable, Sendable {
        /// Asks for it when it is a helper that holds it, and has it within a second.
        case app
        /// A widget or an extension: hands the cache over to an app that asks.
        case helper
    }

    private let state: Mutex<Values>

    init(_ values: Values) { state = Mutex(values) }

    /// Makes settings from the values that differ from the defaults.
    ///
    /// - Parameters:
    ///   - host: `HOST:PORT` of the server; nil for `FIRESTORE_EMULATOR_HOST` or Google's.
    ///   - isSSLEnabled: Whether connections use TLS.
    ///   - cache: Where documents and pending writes are kept.
    ///   - user: The user whose cache is opened; nil before anybody signs in.
    ///   - sharesCacheBetweenUsers: Whether all users have one cache file.
    ///   - cacheSizeBytes: The size from which the oldest documents are removed; nil for no bound.
    ///   - label: The label under which reads are counted.
    ///   - readDeadline: How long a read waits for the server; nil for as long as it seems
    ///     reachable.
    ///   - token: A bearer token for every call; nil for none.
    ///   - onBusyCache: What to do when another process has the cache open.
    public convenience init(
        host: String? = nil, isSSLEnabled: Bool = true, cache: Cache = .standard,
        user: String? = nil, sharesCacheBetweenUsers: Bool = false,
        cacheSizeBytes: Int64? = 100 * 1024 * 1024, label: String? = nil,
        readDeadline: Duration? = .seconds(10), token: String? = nil,
        onBusyCache: BusyCache = .fail
    ) {
        self.init(
            Values(
                host: host, isSSLEnabled: isSSLEnabled, cache: cache, user: user,
                sharesCacheBetweenUsers: sharesCacheBetweenUsers, cacheSizeBytes: cacheSizeBytes,
                label: label, readDeadline: readDeadline, token: token, onBusyCache: onBusyCache))
    }

    /// FirebaseFirestore's defaults: a cache of 100 MiB on disk.
    public convenience init() { self.init(Values()) }

    var values: Values { state.withLock { $0 } }

    func set<T: Sendable>(_ field: any WritableKeyPath<Values, T> & Sendable, _ value: T) {
        state.withLock { $0[keyPath: field] = value }
    }
}

extension FirestoreSettings {
    /// The server, as in `localhost:8080`. By default `FIRESTORE_EMULATOR_HOST` of the environment,
    /// without TLS; otherwise Cloud Firestore.
    public var host: String {
        get { values.host ?? Self.emulator(ProcessInfo.processInfo.environment) ?? Self.cloudHost }
        set { set(\.host, newValue) }
    }

    public var isSSLEnabled: Bool {
        get { values.isSSLEnabled }
        set { set(\.isSSLEnabled, newValue) }
    }

    /// Certificates, each as PEM, of who may vouch for the server, in the place of the system's;
    /// none for the system's.
    package var authorities: [[UInt8]] {
        get { values.authorities }
        set { set(\.authorities, newValue) }
    }

    /// The serial queue on which listeners and completions are called: the main queue by default.
    public var dispatchQueue: DispatchQueue {
        get { values.dispatchQueue }
        set { set(\.dispatchQueue, newValue) }
    }

    public var cache: Cache {
        get { values.cache }
        set { set(\.cache, newValue) }
    }

    /// How the cache is encrypted on the device: documents, and writes that wait. `TidemarkEncryption` makes
    /// it. Nil, the default, leaves that to the encryption of the device. All users' caches take the same
    /// key; a cache in memory takes none.
    ///
    /// The key is asked for whenever a file is opened. While it cannot be given, the cache is as on a locked
    /// device: ``StorageFault/keyUnavailable(detail:)``. A cache that is not encrypted, or with another key,
    /// is left as it is: ``StorageFault/notEncrypted``, ``StorageFault/wrongKey``.
    public var cacheEncryption: CacheEncryption? {
        get { values.cacheEncryption }
        set { set(\.cacheEncryption, newValue) }
    }

    /// Who uses the client from the start, by the app's own id of at most 128 bytes: each user has
    /// a cache and a queue of writes apart from all others'. Nil before anybody signed in. Later
    /// changes are ``Firestore/changeUser(to:erasingPrevious:)``.
    public var user: String? {
        get { values.user }
        set { set(\.user, newValue) }
    }

    /// As FirebaseFirestore has it: one cache for all users, and only the queue of writes is each
    /// one's own. What one user has read, the next one sees.
    public var sharesCacheBetweenUsers: Bool {
        get { values.sharesCacheBetweenUsers }
        set { set(\.sharesCacheBetweenUsers, newValue) }
    }

    /// What the cache may take on this device; beyond it, what was used the longest ago goes, a
    /// little every few minutes. ``FirestoreCacheSizeUnlimited`` for no bound; at least 1 MiB. What
    /// feeds hold, what is listened to and what waits to be sent is never removed.
    public var cacheSizeBytes: Int64 {
        get { values.cacheSizeBytes ?? FirestoreCacheSizeUnlimited }
        set { set(\.cacheSizeBytes, newValue == FirestoreCacheSizeUnlimited ? nil : newValue) }
    }

    /// Whether the cache is on disk: the older way to say what ``cacheSettings`` does.
    public var isPersistenceEnabled: Bool {
        get { cache != .memory }
        set {
            if newValue, cache == .memory { cache = .standard }
            if !newValue { cache = .memory }
        }
    }

    /// The label under which reads of this client are counted; nil for none.
    public var label: String? {
        get { values.label }
        set { set(\.label, newValue) }
    }

    /// How long a read without a deadline of its own waits for the server before the cache answers;
    /// nil for as long as the server seems reachable.
    public var readDeadline: Duration? {
        get { values.readDeadline }
        set { set(\.readDeadline, newValue) }
    }

    /// A bearer token that is sent with every call, for a server that asks for one; nil for none.
    public var token: String? {
        get { values.token }
        set { set(\.token, newValue) }
    }

    /// Provides the bearer token of every call, instead of ``token``, for the account that is
    /// signed in. A call that is refused for its token is made once more, with a new one.
    public var tokenProvider: (any TokenProvider)? {
        get { values.tokenProvider }
        set { set(\.tokenProvider, newValue) }
    }

    /// Asked for the App Check token of every call: `x-firebase-appcheck`, as production expects it. Nil
    /// sends none. A call that is refused with `UNAUTHENTICATED` asks for a new one once.
    public var appCheckProvider: (any TokenProvider)? {
        get { values.appCheckProvider }
        set { set(\.appCheckProvider, newValue) }
    }

    public var onBusyCache: BusyCache {
        get { values.onBusyCache }
        set { set(\.onBusyCache, newValue) }
    }

    /// How much may be read in a day, and what happens beyond; empty by default.
    /// ``ReadMeter/setBudgets(_:)`` changes them later.
    public var readBudgets: [ReadBudget] {
        get { values.readBudgets }
        set { set(\.readBudgets, newValue) }
    }

    /// How many repeated reads of one listener end with a pause, in which it shows the cache.
    public var stormBounds: StormBreaker.Bounds {
        get { values.stormBounds }
        set { set(\.stormBounds, newValue) }
    }
}
