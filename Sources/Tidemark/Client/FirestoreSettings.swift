public import Dispatch
import Foundation
import Synchronization

/// The settings of a ``Firestore``: the address of its server and the place of its cache.
///
/// The values are copied when a client is created with them or receives them: later changes do not
/// affect a client. Thread-safe.
public final class FirestoreSettings: Sendable {
    public enum Cache: Hashable, Sendable {
        /// A cache in memory. It is lost with the client, with its queue of writes.
        case memory
        /// A cache in this folder, which is created if it is missing: one SQLite file for each
        /// database and user. A single client at a time can open a file, unless
        /// ``FirestoreSettings/onBusyCache`` allows more. On Apple's systems the folder is excluded
        /// from backups.
        case directory(String)
        /// A cache in the system's folder for an app's data, under the name of the process:
        /// `~/.local/share` on Linux, `Library/Application Support` on Apple's systems.
        case standard
    }

    /// The behaviour of a client whose cache is open in another client, in this or another process.
    public enum BusyCache: Hashable, Sendable {
        /// Opening fails immediately with ``StorageFault/locked``.
        case fail
        /// The client reads the contents that the cache has at that moment, and nothing else: it
        /// sends no requests, and refuses writes with ``StorageFault/locked``. Costs a copy of the
        /// cache's file.
        case readOnly
        /// Several processes share the cache, such as an app and its widget: all of them must use
        /// this option. A single process holds the cache, sends requests and sends the writes. The
        /// other processes show the stored data with a delay of about 0.1 s, and store their writes
        /// for the holder, which sends them within 0.3 s; calls that only the server can answer
        /// throw `unavailable`. When the holder ends, is suspended or is killed, another process
        /// becomes the holder within 0.3 s. Costs a copy of the cache's file each time it has
        /// changed, on another thread and at most a tenth of the time.
        case shared(CacheRole)
    }

    /// The preference of a process to hold the shared cache.
    public enum CacheRole: Hashable, Sendable {
        /// An app: requests the cache from a helper that holds it, and gets it within a second.
        case app
        /// A widget or an extension: releases the cache when an app requests it.
        case helper
    }

    private let state: Mutex<Values>

    init(_ values: Values) { state = Mutex(values) }

    /// Makes settings from the values that differ from the defaults.
    ///
    /// - Parameters:
    ///   - host: `HOST:PORT` of the server; nil for `FIRESTORE_EMULATOR_HOST` or Google's.
    ///   - isSSLEnabled: True if connections use TLS.
    ///   - cache: The place of documents and pending writes.
    ///   - user: The user whose cache is opened; nil before anybody signs in.
    ///   - sharesCacheBetweenUsers: True if all users share a single cache file.
    ///   - cacheSizeBytes: The size from which the oldest documents are removed; nil for no bound.
    ///   - label: The label under which reads are counted.
    ///   - readDeadline: The maximum time that a read waits for the server; nil to wait as long as
    ///     the server seems reachable.
    ///   - token: A bearer token for every call; nil for none.
    ///   - onBusyCache: The behaviour if another process has the cache open.
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

    /// Returns settings with the same values, which later change separately.
    package func copied() -> FirestoreSettings { FirestoreSettings(values) }

    func set<T: Sendable>(_ field: any WritableKeyPath<Values, T> & Sendable, _ value: T) {
        state.withLock { $0[keyPath: field] = value }
    }
}

extension FirestoreSettings {
    /// The server, such as `localhost:8080`. The default is `FIRESTORE_EMULATOR_HOST` of the
    /// environment, without TLS; otherwise Cloud Firestore.
    public var host: String {
        get { values.host ?? Self.emulator(ProcessInfo.processInfo.environment) ?? Self.cloudHost }
        set { set(\.host, newValue) }
    }

    public var isSSLEnabled: Bool {
        get { values.isSSLEnabled }
        set { set(\.isSSLEnabled, newValue) }
    }

    /// The certificates of the trusted authorities, each as PEM, which replace the system's; empty
    /// for the system's.
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

    /// The encryption of the cache on the device: of documents and pending writes.
    /// `TidemarkEncryption` creates it. Nil, the default, relies on the encryption of the device.
    /// The caches of all users have the same key; a cache in memory has none.
    ///
    /// The key is requested each time a file is opened. While the key is unavailable, the cache
    /// behaves as on a locked device: ``StorageFault/keyUnavailable(detail:)``. A cache that is not
    /// encrypted, or that has another key, is left unchanged: ``StorageFault/notEncrypted``,
    /// ``StorageFault/wrongKey``.
    public var cacheEncryption: CacheEncryption? {
        get { values.cacheEncryption }
        set { set(\.cacheEncryption, newValue) }
    }

    /// The first user of the client, as the app's own id of at most 128 bytes. Each user has a
    /// separate cache and a separate queue of writes. Nil if no user is signed in. Later changes
    /// are made by ``Firestore/changeUser(to:erasingPrevious:)``.
    public var user: String? {
        get { values.user }
        set { set(\.user, newValue) }
    }

    /// True for the behaviour of FirebaseFirestore: all users share a cache, and only the queue of
    /// writes is separate. A user sees the documents that another user has read.
    public var sharesCacheBetweenUsers: Bool {
        get { values.sharesCacheBetweenUsers }
        set { set(\.sharesCacheBetweenUsers, newValue) }
    }

    /// The maximum size of the cache on this device. Beyond it, the least recently used documents
    /// are removed, a few every few minutes. ``FirestoreCacheSizeUnlimited`` sets no bound;
    /// otherwise at least 1 MiB. Documents of feeds and listeners, and pending writes, are never
    /// removed.
    public var cacheSizeBytes: Int64 {
        get { values.cacheSizeBytes ?? FirestoreCacheSizeUnlimited }
        set { set(\.cacheSizeBytes, newValue == FirestoreCacheSizeUnlimited ? nil : newValue) }
    }

    /// True if the cache is on disk. This is the older form of ``cacheSettings``.
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

    /// The maximum time that a read without its own deadline waits for the server before the cache
    /// answers; nil to wait as long as the server seems reachable.
    public var readDeadline: Duration? {
        get { values.readDeadline }
        set { set(\.readDeadline, newValue) }
    }

    /// A bearer token that is sent with every call, for a server that requires one; nil for none.
    public var token: String? {
        get { values.token }
        set { set(\.token, newValue) }
    }

    /// Provides the bearer token of every call, instead of ``token``, for the signed-in account. A
    /// call that is refused because of its token is sent once more, with a new token.
    public var tokenProvider: (any TokenProvider)? {
        get { values.tokenProvider }
        set { set(\.tokenProvider, newValue) }
    }

    /// The provider of the App Check token of every call: `x-firebase-appcheck`, as production
    /// expects it. Nil sends none. A call that is refused with `UNAUTHENTICATED` requests a new
    /// token once.
    public var appCheckProvider: (any TokenProvider)? {
        get { values.appCheckProvider }
        set { set(\.appCheckProvider, newValue) }
    }

    public var onBusyCache: BusyCache {
        get { values.onBusyCache }
        set { set(\.onBusyCache, newValue) }
    }

    /// The maximum number of reads per day, and the behaviour beyond it; empty by default.
    /// ``ReadMeter/setBudgets(_:)`` changes the budgets later.
    public var readBudgets: [ReadBudget] {
        get { values.readBudgets }
        set { set(\.readBudgets, newValue) }
    }

    /// The number of repeated reads of a listener that trigger a pause. During the pause, the
    /// listener shows the cache.
    public var stormBounds: StormBreaker.Bounds {
        get { values.stormBounds }
        set { set(\.stormBounds, newValue) }
    }
}
