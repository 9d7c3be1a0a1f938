/// Secrets that move from an earlier store into another, each when it is first read or written.
///
/// No session is lost: a secret is in the new store before it is removed from the earlier store. If
/// the app is killed in between, the next read removes it. A secret that is removed never comes
/// back from the earlier store. Reading costs a look into both stores.
public struct MovingCredentialStore: CredentialStore {
    private let earlier: any CredentialStore
    private let current: any CredentialStore

    /// - Parameters:
    ///   - earlier: The store of an earlier version of the app.
    ///   - current: The store that contains all secrets from now on.
    public init(from earlier: any CredentialStore, to current: any CredentialStore) {
        self.earlier = earlier
        self.current = current
    }

    /// Returns the secret of the new store, or moves the secret of the earlier store.
    ///
    /// - Throws: ``CredentialStoreError`` if either store cannot be read or the secret cannot be
    ///   moved. The secret is still in the earlier store then.
    public func read(_ key: CredentialKey) throws(CredentialStoreError) -> [UInt8]? {
        if let secret = try current.read(key) {
            // The app was killed between the two steps of a move.
            try? earlier.write(key, nil)
            return secret
        }
        guard let secret = try earlier.read(key) else { return nil }
        try current.write(key, secret)
        try? earlier.write(key, nil)
        return secret
    }

    public func write(_ key: CredentialKey, _ secret: [UInt8]?) throws(CredentialStoreError) {
        // A removed secret would otherwise move back after a kill.
        if secret == nil { try earlier.write(key, nil) }
        try current.write(key, secret)
        if secret != nil { try? earlier.write(key, nil) }
    }
}
