import Foundation
import Tidemark

/// The store of an app's secrets unless its settings name another.
enum DefaultCredentials {
    /// - Parameters:
    ///   - folder: The folder for files, where there is no keychain.
    ///   - keychain: The system's keychain; nil if it has none. Secrets that an earlier version has
    ///     stored in files move into it.
    static func store(
        folder: String, keychain: (any CredentialStore)? = SystemKeychain.store
    ) throws(CredentialStoreError) -> any CredentialStore {
        guard let keychain else {
            let files = try FileCredentialStore(folder: folder)
            Log.debug("the tokens are in files of mode 0600 in \(folder)")
            return files
        }
        guard FileManager.default.fileExists(atPath: folder) else { return keychain }
        return MovingCredentialStore(from: try FileCredentialStore(folder: folder), to: keychain)
    }
}
