public import Foundation
import Synchronization
import TidemarkResilience

/// The address and version of a person's picture.
public struct ProfilePicture: Hashable, Sendable {
    public let url: URL
    /// A text that changes with the picture: a counter, a digest, a time. With a version, the
    /// server is never asked whether the picture is still valid; without one, HTTP's rules apply.
    public let version: String?

    public init(_ url: URL, version: String? = nil) {
        self.url = url
        self.version = version
    }
}

/// Loads people's pictures by their ids. Nine views of one person share one look at the profile and
/// one download. When a profile has another picture, the old one is removed everywhere.
/// Thread-safe.
public final class ProfilePictures: Sendable {
    private let pipeline: ImagePipeline
    private let lookup: @Sendable (String) async throws -> ProfilePicture?
    private let table = Mutex(ProfileTable())
    private let lookups = SingleFlight<[UInt8], ProfilePicture?>()

    /// - Parameters:
    ///   - pipeline: Loads the pictures.
    ///   - lookup: Returns where the picture of the person with this id is; nil when they have
    ///     none. Called once for all views that request it at the same time, and not again until
    ///     ``changed(_:to:)`` or ``forget(_:)``.
    public init(
        _ pipeline: ImagePipeline,
        lookup: @escaping @Sendable (String) async throws -> ProfilePicture?
    ) {
        self.pipeline = pipeline
        self.lookup = lookup
    }

    /// - Throws: ``PictureError``, ``PictureError/noPicture`` for a person without one, what
    ///   `lookup` throws, or `CancellationError`.
    public func picture(
        of user: String, size: PictureSize, mode: PictureFit = .fill,
        priority: PicturePriority = .visible
    ) async throws -> LoadedPicture {
        guard let picture = try await place(user) else { throw PictureError.noPicture }
        return try await pipeline.picture(
            PictureRequest(
                picture.url, size: size, mode: mode, version: picture.version, priority: priority))
    }

    /// The picture, if it is in memory. Never waits.
    public func cached(
        of user: String, size: PictureSize, mode: PictureFit = .fill
    ) -> Picture? {
        guard case .some(let picture?) = table.withLock({ $0.picture(user) }) else { return nil }
        return pipeline.cached(
            PictureRequest(picture.url, size: size, mode: mode, version: picture.version))
    }

    /// Replaces a person's picture. Call it when a profile was read or written.
    ///
    /// - Parameters:
    ///   - user: The person's id.
    ///   - picture: The new picture; nil when the person has none any more.
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
            // What a listener said meanwhile is newer.
            return table.withLock { $0.learn(user, found) }
        }
    }
}

/// Whose picture is which. Pure. Ids are told apart by their bytes.
struct ProfileTable {
    /// People beyond this are looked up again: the ones asked for the longest ago.
    static let capacity = 10_000

    private var people = CostCache<[UInt8], ProfilePicture?>(limit: capacity)
    /// How many have the same one: a default, or a team's.
    private var owners: [ProfilePicture: Int] = [:]

    /// - Returns: Nil for who is not known; a value of nil for who has no picture.
    mutating func picture(_ user: String) -> ProfilePicture?? { people.value(Array(user.utf8)) }

    /// What a lookup found.
    ///
    /// - Returns: What holds: what is known already is newer.
    mutating func learn(_ user: String, _ picture: ProfilePicture?) -> ProfilePicture? {
        if let known = people.peek(Array(user.utf8)) { return known }
        _ = set(user, picture)
        return picture
    }

    /// - Returns: The picture that nobody has any more.
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

    /// - Returns: Whether nobody has it any more.
    private mutating func release(_ picture: ProfilePicture) -> Bool {
        guard let count = owners[picture] else { return false }
        owners[picture] = count > 1 ? count - 1 : nil
        return count == 1
    }
}
