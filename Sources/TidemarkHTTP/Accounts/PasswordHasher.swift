import Crypto
import CryptoExtras
import Dispatch
import Foundation
import Synchronization
import TidemarkServer

/// Derives keys from passwords, on separate threads: a derivation takes a tenth of a second, and
/// must delay nothing else.
final class PasswordHasher: Sendable {
    /// The maximum number of concurrent derivations: each can take 32 MiB and a core.
    static let maxAtWork = 2
    /// The maximum number of waiting derivations; further derivations are refused.
    static let maxWaiting = 200

    private let queues: [DispatchQueue]
    private let state = Mutex((waiting: 0, next: 0))

    init() {
        queues = (0..<Self.maxAtWork).map {
            DispatchQueue(label: "tidemark.passwords.\($0)", qos: .utility)
        }
    }

    /// - Throws: ``AccountRefusal`` if too many derivations wait already.
    func key(_ work: PasswordWork) async throws(AccountRefusal) -> PasswordKey {
        let queue: DispatchQueue? = state.withLock { state in
            if state.waiting >= Self.maxAtWork + Self.maxWaiting { return nil }
            state.waiting += 1
            state.next = (state.next + 1) % queues.count
            return queues[state.next]
        }
        guard let queue else {
            throw AccountRefusal("QUOTA_EXCEEDED : Too many concurrent sign-ins.", status: 503)
        }
        let key: [UInt8]? = await withCheckedContinuation { done in
            queue.async { done.resume(returning: Self.derive(work)) }
        }
        state.withLock { $0.waiting -= 1 }
        guard let key else {
            throw AccountRefusal("INTERNAL_ERROR : The password cannot be hashed.", status: 500)
        }
        return PasswordKey(work, key: key)
    }

    /// Returns nil for a scheme of a newer version, and for parameters that allow no key.
    static func derive(_ work: PasswordWork) -> [UInt8]? {
        let password = Data(work.password.utf8)
        switch work.scheme {
        case .scrypt(let logN, let size, let parallelism, let bytes):
            return scrypt(
                password, salt: work.salt, logN: logN, size: size, parallelism: parallelism,
                bytes: bytes)
        case .firebaseScrypt(let logN, let size, let separator, let signerKey):
            guard
                let key = scrypt(
                    password, salt: work.salt + separator, logN: logN, size: size, parallelism: 1,
                    bytes: 64)
            else {
                return nil
            }
            // Source: github.com/firebase/scrypt: AES-256 in counter mode from zero.
            let nonce = try? AES._CTR.Nonce(nonceBytes: Array(repeating: 0, count: 16))
            let sealed = nonce.flatMap {
                try? AES._CTR.encrypt(
                    signerKey, using: SymmetricKey(data: key[..<32]), nonce: $0)
            }
            return sealed.map { [UInt8]($0) }
        case .digest(let name, let rounds, let saltFirst):
            return digest(name, rounds: rounds, text: salted(work, isSaltFirst: saltFirst))
        case .hmac(let name, let key, let saltFirst):
            return authenticate(
                name, text: Data(salted(work, isSaltFirst: saltFirst)), key: SymmetricKey(data: key)
            )
        case .pbkdf2(let name, let rounds, let bytes):
            return try? KDF.Insecure.PBKDF2.deriveKey(
                from: password, salt: work.salt,
                using: name == "SHA1" ? .insecureSHA1 : .sha256, outputByteCount: bytes,
                unsafeUncheckedRounds: max(1, rounds)
            ).withUnsafeBytes { [UInt8]($0) }
        }
    }

    private static func salted(_ work: PasswordWork, isSaltFirst: Bool) -> [UInt8] {
        let password = Array(work.password.utf8)
        return isSaltFirst ? work.salt + password : password + work.salt
    }

    private static func scrypt(
        _ password: Data, salt: [UInt8], logN: Int, size: Int, parallelism: Int,
        bytes: Int
    ) -> [UInt8]? {
        guard (1...20).contains(logN), (1...32).contains(size), (1...16).contains(parallelism)
        else { return nil }
        return try? KDF.Scrypt.deriveKey(
            from: password, salt: salt, outputByteCount: bytes, rounds: 1 << logN,
            blockSize: size, parallelism: parallelism
        ).withUnsafeBytes { [UInt8]($0) }
    }

    /// Hashes in rounds: the first hashes the text, and each later round hashes the previous
    /// result.
    private static func digest(_ name: String, rounds: Int, text: [UInt8]) -> [UInt8]? {
        var bytes = text
        for _ in 0..<max(1, rounds) {
            switch name {
            case "SHA512": bytes = Array(SHA512.hash(data: bytes))
            case "SHA256": bytes = Array(SHA256.hash(data: bytes))
            case "SHA1": bytes = Array(Insecure.SHA1.hash(data: bytes))
            case "MD5": bytes = Array(Insecure.MD5.hash(data: bytes))
            default: return nil
            }
        }
        return bytes
    }

    private static func authenticate(
        _ name: String, text: Data, key: SymmetricKey
    ) -> [UInt8]? {
        switch name {
        case "SHA512": Array(HMAC<SHA512>.authenticationCode(for: text, using: key))
        case "SHA256": Array(HMAC<SHA256>.authenticationCode(for: text, using: key))
        case "SHA1": Array(HMAC<Insecure.SHA1>.authenticationCode(for: text, using: key))
        case "MD5": Array(HMAC<Insecure.MD5>.authenticationCode(for: text, using: key))
        default: nil
        }
    }
}
