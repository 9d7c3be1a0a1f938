#if canImport(Security)
    import Foundation
    import Security

    /// Secrets in the keychain of Apple's systems: of this device alone, readable after its first
    /// unlocking.
    public struct KeychainCredentialStore: CredentialStore {
        private let service: String

        /// - Parameter service: Names the app's items apart from all others'.
        public init(service: String) { self.service = service }

        public func read(_ key: CredentialKey) throws(CredentialStoreError) -> [UInt8]? {
            var query = query(of: key.rawValue)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var item: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &item)
            switch status {
            case errSecSuccess: return (item as? Data).map { [UInt8]($0) }
            case errSecItemNotFound:
                // Before the first unlocking it says so of items that are there. Source:
                // accounts-and-launch 6. What can be added can be read.
                try probe()
                return nil
            default: throw Self.error(status)
            }
        }

        public func write(
            _ key: CredentialKey, _ secret: [UInt8]?
        ) throws(CredentialStoreError) {
            try write(key.rawValue, secret)
        }

        private func write(_ name: String, _ secret: [UInt8]?) throws(CredentialStoreError) {
            let query = query(of: name)
            guard let secret else {
                let status = SecItemDelete(query as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else {
                    throw Self.error(status)
                }
                return
            }
            let values: [String: Any] = [
                kSecValueData as String: Data(secret),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(query.merging(values) { $1 } as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Self.error(status) }
        }

        private func probe() throws(CredentialStoreError) {
            // A name of its own: another reader may look at the same time.
            let name = "probe-" + UUID().uuidString
            try write(name, [0])
            try write(name, nil)
        }

        private func query(of name: String) -> [String: Any] {
            [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: service, kSecAttrAccount as String: name,
                kSecUseDataProtectionKeychain as String: true,
            ]
        }

        private static func error(_ status: OSStatus) -> CredentialStoreError {
            status == errSecInteractionNotAllowed ? .locked : .failed("keychain: \(status)")
        }
    }
#endif
