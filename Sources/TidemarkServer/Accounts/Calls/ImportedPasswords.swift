/// Reads the hash parameters of the passwords in a batch.
struct ImportedPasswords: AccountCalls {
    let turn: AccountTurn

    /// Returns the scheme of the passwords in a batch. Source: Firebase, `importUsers` and its
    /// algorithms. The parameters have bounds, because each later sign-in makes the server do that
    /// work.
    ///
    /// - Returns: The scheme; nil if the batch has no hash algorithm.
    func scheme() throws -> PasswordScheme? {
        guard let name = try fields.filled("hashAlgorithm") else { return nil }
        switch name {
        case "SCRYPT": return try firebaseScheme()
        case "STANDARD_SCRYPT": return try scryptScheme()
        case "PBKDF2_SHA256", "PBKDF_SHA1":
            let rounds = try number("rounds", in: 0...120_000)
            return .pbkdf2(name == "PBKDF_SHA1" ? "SHA1" : "SHA256", rounds: rounds, keyBytes: 0)
        case "HMAC_SHA512", "HMAC_SHA256", "HMAC_SHA1", "HMAC_MD5":
            guard let key = try bytes("signerKey"), !key.isEmpty else {
                throw AccountRefusal("INVALID_HASH_KEY")
            }
            return .hmac(String(name.dropFirst(5)), key: key, saltFirst: try isSaltFirst())
        case "SHA512", "SHA256", "SHA1", "MD5":
            let least: Int64 = name == "MD5" ? 0 : 1
            return .digest(
                name, rounds: try number("rounds", in: least...8_192),
                saltFirst: try isSaltFirst())
        default:
            throw AccountRefusal("INVALID_HASH_ALGORITHM : \(name) is unknown.")
        }
    }

    private func firebaseScheme() throws -> PasswordScheme {
        guard let key = try bytes("signerKey"), key.count == 64 || key.count == 32 else {
            throw AccountRefusal("INVALID_HASH_KEY")
        }
        return .firebaseScrypt(
            logN: try number("memoryCost", in: 1...14), blockSize: try number("rounds", in: 1...8),
            separator: try bytes("saltSeparator") ?? [], signerKey: key)
    }

    private func scryptScheme() throws -> PasswordScheme {
        let cost = try number("cpuMemCost", in: 2...131_072)
        let size = try number("blockSize", in: 1...32)
        guard cost.nonzeroBitCount == 1, cost * size <= 1 << 20 else {
            throw AccountRefusal("INVALID_HASH_PARAMETER")
        }
        return .scrypt(
            logN: cost.trailingZeroBitCount, blockSize: size,
            parallelism: try number("parallelization", in: 1...16),
            keyBytes: try number("dkLen", in: 16...256))
    }

    private func isSaltFirst() throws -> Bool {
        try fields.filled("passwordHashOrder") == "SALT_AND_PASSWORD"
    }

    private func number(_ key: String, in range: ClosedRange<Int64>) throws -> Int {
        guard let value = try fields.integer(key), range.contains(value) else {
            throw AccountRefusal("INVALID_HASH_PARAMETER : \(key)")
        }
        return Int(value)
    }

    private func bytes(_ key: String) throws -> [UInt8]? {
        guard let text = try fields.text(key) else { return nil }
        guard let bytes = Base64.bytes(text) else {
            throw AccountRefusal.invalidArgument("\(key) is not base 64.")
        }
        return bytes
    }

    func password(
        _ hash: String, salt: String, scheme: PasswordScheme?
    ) throws -> StoredPassword {
        guard var scheme else { throw AccountRefusal("MISSING_HASH_ALGORITHM") }
        guard let key = Base64.bytes(hash), let salt = Base64.bytes(salt), !key.isEmpty,
            key.count <= 1_024
        else { throw AccountRefusal.invalidArgument("passwordHash and salt are base 64.") }
        if case .pbkdf2(let name, let rounds, _) = scheme {
            scheme = .pbkdf2(name, rounds: rounds, keyBytes: key.count)
        }
        return StoredPassword(scheme: scheme, salt: salt, key: key, updatedAt: now)
    }
}
