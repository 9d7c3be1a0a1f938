public import Foundation
import Synchronization
import TidemarkResilience

/// The address and version of a user's picture.
public struct ProfilePicture: Hashable, Sendable {
    public let url: URL
    /// A text that changes with the picture: a counter, a digest, a time. With a version, the
    /// server is never asked whether the picture is still valid; without a version, the rules of
    /// HTTP apply.
    public let version: String?

    public init(_ url: URL, version: String? = nil) {
        self.url = url
        self.version = version
    }
}

/// Loads the pictures of users by their ids. Nine views of the same user share one lookup of the
/// profile and one download. When a profile gets another picture, the old picture is removed
/// everywhere. Thread-safe.
public final class ProfilePictures: Sendable {
    private let pipeline: ImagePipeline
    private let lookup: @Sendable (String) async throws -> ProfilePicture?
    private let table = Mutex(ProfileTable())
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
        let old = table.withLock { $0.set(user, picture) }
        lookups.forget(Array(user.utf8))
        if let old { await pipeline.remove(old.url, version: old.version) }
    }

    /// Reads the profile again at the next request. The picture stays in the caches.
    public func forget(_ user: String) {
        table.withLock { $0.forget(user) }
        lookups.forget(Array(user.utf8))
    }

    private func place(_ user: String) async throws -> ProfilePicture? {
        if let known = table.withLock({ $0.picture(user) }) { return known }
        return try await lookups.value(for: Array(user.utf8)) { [self] in
            let found = try await lookup(user)
            // A change that a listener reported during the lookup is newer.
            return table.withLock { $0.learn(user, found) }
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
