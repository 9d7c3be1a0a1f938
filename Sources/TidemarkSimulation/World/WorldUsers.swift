/// Who writes: a user on a device, with a queue of their own; or the outside.
package struct WorldWriter: Hashable, Comparable, Sendable {
    /// Nil for the outside.
    let client: Int?
    /// Nil for nobody in particular.
    let user: String?

    static let outside = WorldWriter(client: nil, user: nil)

    package var name: String {
        guard let client else { return "x" }
        return "c\(client)" + (user.map { "-\($0)" } ?? "")
    }

    package static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

/// A change of a client's user that was asked for and is not done.
struct WorldUserChange {
    let writer: WorldWriter
    /// Whose cache goes with it; nil when it stays.
    let erased: WorldWriter?
}

enum WorldUsers {
    static let all: [String?] = [nil, "ann", "ben"]
    /// Those with a cache file of their own.
    static let named = all.compactMap(\.self)
}

/// An answer that comes within the same step.
// @unchecked: a world lives in one thread.
final class WorldFound<Value>: @unchecked Sendable { var value: Value? }
