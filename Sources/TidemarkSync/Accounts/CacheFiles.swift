import TidemarkModel
import TidemarkStore

/// Where the caches of one database's users lie: a file each, so that no query, no index and no bug
/// can reach from one user's documents to another's.
struct CacheFiles: Equatable, Sendable {
    /// The file of nobody in particular; nil for caches in memory.
    let base: String?
    /// All users in one file, each with a queue of its own.
    let isShared: Bool

    /// Source: Firebase Authentication's limit of a uid.
    static let longestUser = 128

    /// Nil when the id can be a user's.
    static func fault(of user: String?) -> SyncError? {
        guard let user else { return nil }
        if user.utf8.isEmpty { return .invalidArgument("The id of a user is not empty.") }
        guard user.utf8.count > longestUser else { return nil }
        return .invalidArgument("The id of a user has at most \(longestUser) bytes.")
    }

    func location(of user: String?) -> DocumentStore.Location {
        guard let base else { return .memory }
        guard let user, !isShared else { return .file(base) }
        return .file(Self.usersPrefix(of: base) + Self.base32(Array(user.utf8)) + ".sqlite")
    }

    /// The stem that the files of all users begin with, and how they go on.
    static func usersPrefix(of base: String) -> String {
        let ending = ".sqlite"
        let stem = base.hasSuffix(ending) ? String(base.dropLast(ending.count)) : base
        return stem + ".user-"
    }

    /// In lower case, as some disks take both cases for one: 128 bytes become 205 characters, where
    /// names of 255 are allowed.
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

/// A user as a key: by the bytes of the id, and empty for nobody.
struct UserKey: Hashable, Sendable {
    let bytes: [UInt8]
    init(_ user: String?) { bytes = Array((user ?? "").utf8) }
}
