/// The way in which a key is derived from a password. The slow derivation happens outside the core.
package enum PasswordScheme: Hashable, Sendable {
    /// RFC 7914, with 2 to the power of `logN` rounds.
    case scrypt(logN: Int, blockSize: Int, parallelism: Int, keyBytes: Int)
    /// Firebase's own scheme: scrypt's result encrypts a key of the project. Source:
    /// github.com/firebase/scrypt.
    case firebaseScrypt(logN: Int, blockSize: Int, separator: [UInt8], signerKey: [UInt8])
    /// Schemes of other systems, for imported accounts.
    case digest(String, rounds: Int, saltFirst: Bool)
    case hmac(String, key: [UInt8], saltFirst: Bool)
    case pbkdf2(String, rounds: Int, keyBytes: Int)

    /// The scheme of new passwords in the secure mode: as slow as OWASP's Password Storage Cheat
    /// Sheet requires for scrypt, in 32 MiB.
    package static let strong = strong(logN: 15)
    /// - Parameter logN: Each increment doubles time and memory, from 1 KiB at 0.
    package static func strong(logN: Int) -> PasswordScheme {
        .scrypt(logN: logN, blockSize: 8, parallelism: 3, keyBytes: 32)
    }

    /// The scheme for unsigned tokens: it is sufficient to keep passwords out of files.
    package static let quick = PasswordScheme.scrypt(
        logN: 8, blockSize: 8, parallelism: 1, keyBytes: 32)

    /// The stored form of the scheme.
    var text: String {
        switch self {
        case .scrypt(let logN, let size, let parallelism, let bytes):
            "scrypt:\(logN):\(size):\(parallelism):\(bytes)"
        case .firebaseScrypt(let logN, let size, let separator, let key):
            "firebase:\(logN):\(size):\(Base64.text(separator)):\(Base64.text(key))"
        case .digest(let name, let rounds, let first): "digest:\(name):\(rounds):\(first)"
        case .hmac(let name, let key, let first): "hmac:\(name):\(Base64.text(key)):\(first)"
        case .pbkdf2(let name, let rounds, let bytes): "pbkdf2:\(name):\(rounds):\(bytes)"
        }
    }

    /// Reads the stored form; nil for a text that ``text`` never returns.
    init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let numbers = parts.map { Int($0) ?? -1 }
        switch (parts[0], parts.count) {
        case ("scrypt", 5):
            self = .scrypt(
                logN: numbers[1], blockSize: numbers[2], parallelism: numbers[3],
                keyBytes: numbers[4])
        case ("firebase", 5):
            guard let separator = Base64.bytes(parts[3]), let key = Base64.bytes(parts[4]) else {
                return nil
            }
            self = .firebaseScrypt(
                logN: numbers[1], blockSize: numbers[2], separator: separator, signerKey: key)
        case ("digest", 4):
            self = .digest(parts[1], rounds: numbers[2], saltFirst: parts[3] == "true")
        case ("hmac", 4):
            guard let key = Base64.bytes(parts[2]) else { return nil }
            self = .hmac(parts[1], key: key, saltFirst: parts[3] == "true")
        case ("pbkdf2", 4):
            self = .pbkdf2(parts[1], rounds: numbers[2], keyBytes: numbers[3])
        default: return nil
        }
    }
}

/// A key derivation that must be done before a call can be decided.
package struct PasswordWork: Hashable, Sendable {
    package let scheme: PasswordScheme
    package let salt: [UInt8]
    package let password: String
}

/// The result of a key derivation.
package struct PasswordKey: Hashable, Sendable {
    let work: PasswordWork
    let key: [UInt8]

    package init(_ work: PasswordWork, key: [UInt8]) {
        self.work = work
        self.key = key
    }
}

/// Compares two keys. The time depends only on their length, not on the number of equal bytes.
func isSame(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for index in a.indices { difference |= a[index] ^ b[index] }
    return difference == 0
}
