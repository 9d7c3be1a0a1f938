#if canImport(Security)
    import Foundation
    import Security

    /// Secrets in the keychain of Apple's systems, on this device only, readable after the device's
    /// first unlock.
    ///
    /// On macOS a program needs the entitlement `keychain-access-groups`; a command-line tool has
    /// none and uses a ``FileCredentialStore``.
    public struct KeychainCredentialStore: CredentialStore {
        private let items: KeychainItems

        /// - Parameters:
        ///   - service: The name that distinguishes the app's items from all others.
        ///   - accessGroup: The keychain access group, with its team's prefix, that the app shares
        ///     with its extensions; nil for the app's own.
        public init(service: String, accessGroup: String? = nil) {
            items = KeychainItems(
                service: service, accessGroup: accessGroup, calls: SecItemCalls())
        }

        public func read(_ key: CredentialKey) throws(CredentialStoreError) -> [UInt8]? {
            try items.read(key)
        }

        public func write(
            _ key: CredentialKey, _ secret: [UInt8]?
        ) throws(CredentialStoreError) {
            try items.write(key, secret)
        }
    }

    /// The system's own functions. ``KeychainItems`` interprets their answers.
    struct SecItemCalls: KeychainCalls {
        func copy(_ item: KeychainItem) -> (status: Int32, bytes: [UInt8]?) {
            var query = query(of: item)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            return (status, (found as? Data).map { [UInt8]($0) })
        }

        func add(_ item: KeychainItem, _ bytes: [UInt8]) -> Int32 {
            SecItemAdd(query(of: item).merging(values(bytes)) { $1 } as CFDictionary, nil)
        }

        func update(_ item: KeychainItem, _ bytes: [UInt8]) -> Int32 {
            SecItemUpdate(query(of: item) as CFDictionary, values(bytes) as CFDictionary)
        }

        func delete(_ item: KeychainItem) -> Int32 {
            SecItemDelete(query(of: item) as CFDictionary)
        }

        private func values(_ bytes: [UInt8]) -> [String: Any] {
            [
                kSecValueData as String: Data(bytes),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
        }

        private func query(of item: KeychainItem) -> [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: item.service,
                kSecAttrAccount as String: item.account,
                kSecUseDataProtectionKeychain as String: true,
            ]
            query[kSecAttrAccessGroup as String] = item.accessGroup
            return query
        }
    }
#endif
