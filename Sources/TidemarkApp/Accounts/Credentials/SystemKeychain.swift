import Foundation

/// The keychain of the system.
enum SystemKeychain {
    /// The items of this app, or of the process if it is no app; nil if the system has no keychain.
    static var store: (any CredentialStore)? {
        #if canImport(Security)
            let name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            return KeychainCredentialStore(service: name + ".tidemark")
        #else
            return nil
        #endif
    }
}
