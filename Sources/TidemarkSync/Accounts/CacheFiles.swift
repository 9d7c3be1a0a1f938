import TidemarkModel
import TidemarkStore

/// The files of a database's caches: one per user, so that no query, index or bug can access
/// another user's documents.
struct CacheFiles: Equatable, Sendable {
    /// The path of the file without a user; nil for caches in memory.
    let base: String?
    /// True if all users share one file. Each user then has a separate queue.
    let isShared: Bool

    /// The maximum length of a user's id in bytes. Source: Firebase Authentication's limit of a
    /// uid.
    static let longestUser = 128

    /// Returns the error for an id that cannot be a user's; nil if the id is valid.
    static func fault(of user: String?) -> SyncError? {
        guard let user else { return nil }
        if user.utf8.isEmpty { return .invalidArgument("The id of a user must not be empty.") }
        guard user.utf8.count > longestUser else { return nil }
        return .invalidArgument("The id of a user must have at most \(longestUser) bytes.")
    }

    func location(of user: String?) -> DocumentStore.Location {
        guard let base else { return .memory }
        guard let user, !isShared else { return .file(base) }
        return .file(Self.usersPrefix(of: base) + Self.base32(Array(user.utf8)) + ".sqlite")
    }

    /// Returns the prefix of the paths of all users' files.
    static func usersPrefix(of base: String) -> String {
        let ending = ".sqlite"
        let stem = base.hasSuffix(ending) ? String(base.dropLast(ending.count)) : base
        return stem + ".user-"
    }

    /// Encodes bytes as base32 in lower case, because some disks ignore case. 128 bytes become 205
    /// characters; file names can have 255.
    static func base32(_ bytes: [UInt8]) -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        var result: [UInt8] = []
        var (buffer, bits) = (0, 0)
        for byte in bytes {
            buffer = (buffer << 8 | Int(byte)) & 0xFFFF
            bits += 8
            while bits >= 5 {
                bits -= 5
                result.append(alphabet[buffer >> bits & 31])
            }
        }
        if bits > 0 { result.append(alphabet[buffer << (5 - bits) & 31]) }
        return String(decoding: result, as: UTF8.self)
    }
}

/// A user as a dictionary key: the bytes of the id; empty for no user.
struct UserKey: Hashable, Sendable {
    let bytes: [UInt8]
    init(_ user: String?) { bytes = Array((user ?? "").utf8) }
}
