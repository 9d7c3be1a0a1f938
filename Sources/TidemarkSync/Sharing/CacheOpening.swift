import TidemarkModel
import TidemarkStore

/// A cache that was opened.
struct OpenedCache {
    let local: LocalStore
    /// Whether it is a copy of one that another process holds.
    let isView: Bool
}

/// Opens the caches of an engine: to hold them, or to view one that another process holds.
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

    /// Holds the cache of a user or, where that is wished for, views one that is held.
    func open(_ user: String?) throws -> OpenedCache {
        do { return OpenedCache(local: try hold(user), isView: false) } catch {
            guard busy != .fail, case .locked? = StorageFault(error) else { throw error }
            return OpenedCache(local: try view(user), isView: true)
        }
    }

    /// With all that was left in its inbox.
    ///
    /// - Throws: ``StoreError/locked`` when another process holds it.
    func hold(_ user: String?) throws -> LocalStore {
        let local = try LocalStore.opening(
            files.location(of: user), database: database, user: user, key: key, fault: fault)
        if let inbox = inbox(of: user) {
            var taking = InboxTaking(inbox, local, now: now())
            // What cannot be taken now is taken later.
            _ = try? taking.take(most: .max)
        }
        return local
    }

    func view(_ user: String?) throws -> LocalStore {
        guard case .file(let path) = files.location(of: user) else { throw StoreError.locked }
        return try view(try ViewedCache(of: path, key), user, own: [:]) { _ in }
    }

    /// What the holder stored, with the writes on top that wait for the holder.
    ///
    /// - Parameters:
    ///   - own: Those of this process that are not known to be sent.
    ///   - cannotShow: Called with why a write cannot be shown on top, as where the disk is full; it may
    ///     throw.
    func view(
        _ viewed: ViewedCache, _ user: String?, own: [String: SharedWrite],
        cannotShow: (any Error) throws -> Void = { throw $0 }
    ) throws -> LocalStore {
        let local = try LocalStore(
            .file(viewed.copy.path), database: database, user: user, key: key, fault: fault,
            copy: viewed.copy)
        // Those that were left since, too.
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

    /// Where processes that view the cache leave their writes; nil where none does.
    func inbox(of user: String?) -> StoreInbox? {
        guard case .share = busy, case .file(let path) = files.location(of: user) else {
            return nil
        }
        return StoreInbox(of: path, key: key)
    }

    /// Makes a copy of what the holder has stored by now. Touches nothing of an engine, so that it can be
    /// done on another thread.
    func copy(of user: String?) throws -> ViewedCache {
        guard case .file(let path) = files.location(of: user) else { throw StoreError.locked }
        return try ViewedCache(of: path, key)
    }

    /// A new cache in the place of one that is damaged.
    func renew(_ path: String, _ user: String?) throws -> LocalStore {
        try LocalStore.renewed(path, database: database, user: user, key: key, fault: fault)
    }
}

/// A copy of a cache that another process holds, and the writes that waited in its inbox when the copy was
/// made. They are read before it: what the holder takes meanwhile is in one of the two.
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

    /// What cannot be read is the holder's to refuse.
    private static func read(_ inbox: StoreInbox, into writes: inout [String: SharedWrite]) {
        for name in inbox.contents().names where writes[name] == nil {
            guard let message = try? inbox.message(name) else { continue }
            writes[name] = try? SharedWrite(message)
        }
    }
}
