/// A writer: a user on a device, with a queue of their own, or the outside.
package struct WorldWriter: Hashable, Comparable, Sendable {
    /// The device; nil for the outside.
    let client: Int?
    /// The user; nil if no user is signed in.
    let user: String?

    static let outside = WorldWriter(client: nil, user: nil)

    package var name: String {
        guard let client else { return "x" }
        return "c\(client)" + (user.map { "-\($0)" } ?? "")
    }

    package static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

/// A change of a client's user that has been requested and is not complete.
struct WorldUserChange {
    let writer: WorldWriter
    /// The user whose cache is erased; nil if the cache is kept.
    let erased: WorldWriter?
}

enum WorldUsers {
    static let all: [String?] = [nil, "ann", "ben"]
    /// The users with their own cache file.
    static let named = all.compactMap(\.self)
}

/// A result that arrives within the same step.
// @unchecked: a world uses only one thread.
final class WorldFound<Value>: @unchecked Sendable { var value: Value? }
