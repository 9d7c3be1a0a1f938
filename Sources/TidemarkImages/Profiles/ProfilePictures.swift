import Foundation
import Synchronization
import TidemarkResilience

/// Loads the pictures of users by their ids. Nine views of the same user share one lookup of the
/// profile and one download. When a profile gets another picture, the old picture is removed
/// everywhere. Thread-safe.
public final class ProfilePictures: Sendable {
    private let pipeline: ImagePipeline
    private let lookup: @Sendable (String) async throws -> ProfilePicture?
    private let table = Mutex(ProfileTable())
    /// May be locked while `table` is locked, never the other way round.
    let watchers = Mutex(ProfileWatchers())
    private let lookups = SingleFlight<[UInt8], ProfilePicture?>()

    /// - Parameters:
    ///   - pipeline: Loads the pictures.
    ///   - lookup: Returns the address of the picture of the user with this id; nil if the user has
    ///     none. It is called once for all views that request it at the same time, and not again
    ///     until ``changed(_:to:)`` or ``forget(_:)``.
    public init(
        _ pipeline: ImagePipeline,
        lookup: @escaping @Sendable (String) async throws -> ProfilePicture?
    ) {
        self.pipeline = pipeline
        self.lookup = lookup
    }

    /// - Throws: ``PictureError``, ``PictureError/noPicture`` for a user without a picture, the
    ///   error of `lookup`, or `CancellationError`.
    public func picture(
        of user: String, size: PictureSize, mode: PictureFit = .fill,
        priority: PicturePriority = .visible
    ) async throws -> LoadedPicture {
        guard let picture = try await place(user) else { throw PictureError.noPicture }
        return try await pipeline.picture(
            PictureRequest(
                picture.url, size: size, mode: mode, version: picture.version, priority: priority))
    }

    /// Returns the picture if it is in memory. Never waits.
    public func cached(
        of user: String, size: PictureSize, mode: PictureFit = .fill
    ) -> Picture? {
        guard case .some(let picture?) = table.withLock({ $0.picture(user) }) else { return nil }
        return pipeline.cached(
            PictureRequest(picture.url, size: size, mode: mode, version: picture.version))
    }

    /// Replaces a user's picture. Call it when a profile was read or written.
    ///
    /// - Parameters:
    ///   - user: The user's id.
    ///   - picture: The new picture; nil if the user no longer has a picture.
    public func changed(_ user: String, to picture: ProfilePicture?) async {
        // Both happen under one lock, so the views hear of two changes in their order.
        let old = table.withLock { table in
            watchers.withLock { $0.tell(picture, of: user) }
            return table.set(user, picture)
        }
        lookups.forget(Array(user.utf8))
        if let old { await pipeline.remove(old.url, version: old.version) }
    }

    /// Reads the profile again at the next request. The picture stays in the caches, and a view
    /// that shows it keeps it until ``changed(_:to:)``, or until the view appears again.
    public func forget(_ user: String) {
        table.withLock { $0.forget(user) }
        lookups.forget(Array(user.utf8))
    }

    // MARK: Views

    private func place(_ user: String) async throws -> ProfilePicture? {
        if let known = table.withLock({ $0.picture(user) }) { return known }
        return try await lookups.value(for: Array(user.utf8)) { [self] in
            let found = try await lookup(user)
            // A change that a listener reported during the lookup is newer.
            return table.withLock { $0.learn(user, found) }
        }
    }
}

extension ProfilePictures: ProfilePictureSource {
    public func known(_ user: String) -> ProfilePicture?? { table.withLock { $0.picture(user) } }

    public func pictures(of user: String) -> AsyncThrowingStream<ProfilePicture?, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { input in
            // The watcher is added before the lookup, so no change is missed between the two.
            let number = watchers.withLock { $0.add(input, of: user) }
            let looking = Task { [self] in
                do {
                    let picture = try await place(user)
                    watchers.withLock { $0.begin(picture, of: user, number) }
                } catch { input.finish(throwing: error) }
            }
            input.onTermination = { [weak self] _ in
                looking.cancel()
                // In a separate task, because readers are resumed within the lock.
                Task { self?.watchers.withLock { $0.remove(number, of: user) } }
            }
        }
    }
}

/// The views that follow users' pictures. Ids are compared by their bytes.
struct ProfileWatchers {
    typealias Input = AsyncThrowingStream<ProfilePicture?, any Error>.Continuation

    private var inputs: [[UInt8]: [Int: (input: Input, hasHeard: Bool)]] = [:]
    private var last = 0

    var isEmpty: Bool { inputs.isEmpty }

    mutating func add(_ input: Input, of user: String) -> Int {
        last += 1
        inputs[Array(user.utf8), default: [:]][last] = (input, false)
        return last
    }

    mutating func remove(_ number: Int, of user: String) {
        let key = Array(user.utf8)
        inputs[key]?[number] = nil
        if inputs[key]?.isEmpty == true { inputs[key] = nil }
    }

    /// Passes the result of a lookup to the view that has requested it, unless the view has
    /// received a change meanwhile, which is newer.
    mutating func begin(_ picture: ProfilePicture?, of user: String, _ number: Int) {
        let key = Array(user.utf8)
        guard let watcher = inputs[key]?[number], !watcher.hasHeard else { return }
        inputs[key]?[number]?.hasHeard = true
        watcher.input.yield(picture)
    }

    mutating func tell(_ picture: ProfilePicture?, of user: String) {
        let key = Array(user.utf8)
        for (number, watcher) in inputs[key] ?? [:] {
            inputs[key]?[number]?.hasHeard = true
            watcher.input.yield(picture)
        }
    }
}

/// The table of users and their pictures. Pure. Ids are compared by their bytes.
struct ProfileTable {
    /// The maximum number of users in the table. Beyond it, the least recently used entries are
    /// looked up again.
    static let capacity = 10_000

    private var people = CostCache<[UInt8], ProfilePicture?>(limit: capacity)
    /// The number of users with the same picture: a default, or a team's picture.
    private var owners: [ProfilePicture: Int] = [:]

    /// - Returns: Nil for an unknown user; a value of nil for a user without a picture.
    mutating func picture(_ user: String) -> ProfilePicture?? { people.value(Array(user.utf8)) }

    /// Stores the result of a lookup.
    ///
    /// - Returns: The valid picture: an entry that exists already is newer than the lookup.
    mutating func learn(_ user: String, _ picture: ProfilePicture?) -> ProfilePicture? {
        if let known = people.peek(Array(user.utf8)) { return known }
        _ = set(user, picture)
        return picture
    }

    /// - Returns: The picture that no user has after the change.
    mutating func set(_ user: String, _ picture: ProfilePicture?) -> ProfilePicture? {
        let key = Array(user.utf8)
        let old = people.peek(key) ?? nil
        if let picture { owners[picture, default: 0] += 1 }
        let isLeft = old.map { release($0) } ?? false
        for gone in people.insert(picture, for: key, cost: 1) {
            if let picture = gone.value { _ = release(picture) }
        }
        return isLeft ? old : nil
    }

    mutating func forget(_ user: String) {
        if let picture = people.remove(Array(user.utf8)) ?? nil { _ = release(picture) }
    }

    /// - Returns: True if no user has the picture after the call.
    private mutating func release(_ picture: ProfilePicture) -> Bool {
        guard let count = owners[picture] else { return false }
        owners[picture] = count > 1 ? count - 1 : nil
        return count == 1
    }
}
