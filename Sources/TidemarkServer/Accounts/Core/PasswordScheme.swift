/// How a key is made of a password. What is slow about it happens outside the core.
package enum PasswordScheme: Hashable, Sendable {
    /// RFC 7914: 2 to the power of `logN` rounds.
    case scrypt(logN: Int, blockSize: Int, parallelism: Int, keyBytes: Int)
    /// Firebase's own: what scrypt makes encrypts a key of the project. Source:
    /// github.com/firebase/scrypt.
    case firebaseScrypt(logN: Int, blockSize: Int, separator: [UInt8], signerKey: [UInt8])
    /// Other people's, of accounts that were brought here.
    case digest(String, rounds: Int, saltFirst: Bool)
    case hmac(String, key: [UInt8], saltFirst: Bool)
    case pbkdf2(String, rounds: Int, keyBytes: Int)

    /// What new passwords get where tokens are signed: as slow as OWASP's Password Storage Cheat Sheet
    /// asks of scrypt, in 32 MiB.
    package static let strong = strong(logN: 15)
    /// - Parameter logN: Each one more doubles time and memory: 1 KiB at 0.
    package static func strong(logN: Int) -> PasswordScheme {
        .scrypt(logN: logN, blockSize: 8, parallelism: 3, keyBytes: 32)
    }

    /// Where tokens are unsigned anyway: enough that no password stands in a file.
    package static let quick = PasswordScheme.scrypt(
        logN: 8, blockSize: 8, parallelism: 1, keyBytes: 32)

    /// As it is stored.
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

    /// Nil for what ``text`` never makes.
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

/// A key to be made of a password, before a call can be decided.
package struct PasswordWork: Hashable, Sendable {
    package let scheme: PasswordScheme
    package let salt: [UInt8]
    package let password: String
}

/// What came of it.
package struct PasswordKey: Hashable, Sendable {
    let work: PasswordWork
    let key: [UInt8]

    package init(_ work: PasswordWork, key: [UInt8]) {
        self.work = work
        self.key = key
    }
}

/// Takes as long for keys that are nearly equal as for any others of their length.
func isSame(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for index in a.indices { difference |= a[index] ^ b[index] }
    return difference == 0
}
