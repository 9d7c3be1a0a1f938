import TidemarkModel
import TidemarkStore

/// An open cache.
struct OpenedCache {
    let local: LocalStore
    /// True if this is a copy of a cache that another process holds.
    let isView: Bool
}

/// Opens the caches of an engine: holds them, or views a cache that another process holds.
struct CacheOpening: Sendable {
    let files: CacheFiles
    private let database: DatabaseID
    private let busy: SyncEngine.BusyCache
    private let key: StoreKeySource?
    private let fault: SyncEnvironment.StorageFaultSource?
    private let now: @Sendable () -> Timestamp

    init(_ configuration: SyncEngine.Configuration, _ environment: SyncEnvironment) {
        files = CacheFiles(
            base: configuration.cacheFile, isShared: configuration.sharesCacheBetweenUsers)
        database = configuration.database
        busy = configuration.busyCache
        key = environment.storeKey
        fault = environment.storageFault
        now = environment.now
    }

    /// Holds the cache of a user. If another process holds it and the settings allow a view, views
    /// it.
    func open(_ user: String?) throws -> OpenedCache {
        do { return OpenedCache(local: try hold(user), isView: false) } catch {
            guard busy != .fail, case .locked? = StorageFault(error) else { throw error }
            return OpenedCache(local: try view(user), isView: true)
        }
    }

    /// Holds the cache and takes all writes from its inbox.
    ///
    /// - Throws: ``StoreError/locked`` when another process holds it.
    func hold(_ user: String?) throws -> LocalStore {
        let local = try LocalStore.opening(
            files.location(of: user), database: database, user: user, key: key, fault: fault)
        if let inbox = inbox(of: user) {
            var taking = InboxTaking(inbox, local, now: now())
            // Writes that cannot be taken now are taken later.
            _ = try? taking.take(most: .max)
        }
        return local
    }

    func view(_ user: String?) throws -> LocalStore {
        guard case .file(let path) = files.location(of: user) else { throw StoreError.locked }
        return try view(try ViewedCache(of: path, key), user, own: [:]) { _ in }
    }

    /// Returns the holder's stored content, with the writes that wait for the holder on top.
    ///
    /// - Parameters:
    ///   - own: The writes of this process that are not known to be sent.
    ///   - cannotShow: Receives the reason if a write cannot be shown on top, for example because
    ///     the disk is full. It may throw.
    func view(
        _ viewed: ViewedCache, _ user: String?, own: [String: SharedWrite],
        cannotShow: (any Error) throws -> Void = { throw $0 }
    ) throws -> LocalStore {
        let local = try LocalStore(
            .file(viewed.copy.path), database: database, user: user, key: key, fault: fault,
            copy: viewed.copy)
        // This adds the writes that arrived since the copy, too.
        let writes = viewed.adding(inbox(of: user)).writes.merging(own) { left, _ in left }
        for (name, write) in writes.sorted(by: { $0.key < $1.key })
        where UserKey(write.user) == UserKey(user) {
            do {
                if try local.queue.number(ofShared: name) != nil { continue }
                _ = try local.queue.enqueue(
                    write.mutations, at: write.time, .process, noting: .shared(name))
            } catch { try cannotShow(error) }
        }
        return local
    }

    /// Returns the inbox for the writes of processes that view the cache; nil if no process views
    /// it.
    func inbox(of user: String?) -> StoreInbox? {
        guard case .share = busy, case .file(let path) = files.location(of: user) else {
            return nil
        }
        return StoreInbox(of: path, key: key)
    }

    /// Copies the holder's present content. The function uses no part of an engine, so it can run
    /// on another thread.
    func copy(of user: String?) throws -> ViewedCache {
        guard case .file(let path) = files.location(of: user) else { throw StoreError.locked }
        return try ViewedCache(of: path, key)
    }

    /// Returns a new cache in the place of a damaged one.
    func renew(_ path: String, _ user: String?) throws -> LocalStore {
        try LocalStore.renewed(path, database: database, user: user, key: key, fault: fault)
    }
}

/// A copy of a cache that another process holds, and the writes that waited in its inbox at that
/// time. The writes are read before the copy, so a write that the holder takes during the copy is
/// in at least one of the two.
struct ViewedCache: Sendable {
    let copy: StoreCopy
    private(set) var writes: [String: SharedWrite] = [:]

    fileprivate init(of path: String, _ key: StoreKeySource?) throws {
        let inbox = StoreInbox(of: path, key: key)
        var writes: [String: SharedWrite] = [:]
        Self.read(inbox, into: &writes)
        copy = try StoreCopy(of: path)
        self.writes = writes
    }

    fileprivate func adding(_ inbox: StoreInbox?) -> ViewedCache {
        guard let inbox else { return self }
        var new = self
        Self.read(inbox, into: &new.writes)
        return new
    }

    /// Reads the messages of the inbox, and skips unreadable ones, because only the holder refuses
    /// them.
    private static func read(_ inbox: StoreInbox, into writes: inout [String: SharedWrite]) {
        for name in inbox.contents().names where writes[name] == nil {
            guard let message = try? inbox.message(name) else { continue }
            writes[name] = try? SharedWrite(message)
        }
    }
}
