import Crypto
public import Foundation
import TidemarkSystem

/// Secrets in files of mode 0600, in a folder of mode 0700: a file for each secret, complete at
/// every moment.
///
/// With a key the secrets are encrypted (AES-256-GCM, bound to the name of the secret). Without a
/// key they are as safe as the files of their owner.
public struct FileCredentialStore: CredentialStore {
    /// The environment variable with 32 bytes in base64.
    public static let keyVariable = "TIDEMARK_CREDENTIALS_KEY"

    private let folder: String
    private let key: SymmetricKey?

    /// - Parameters:
    ///   - folder: The folder, which is created if it is missing.
    ///   - key: 32 bytes; nil stores secrets without encryption.
    /// - Throws: ``CredentialStoreError`` if the key has another number of bytes, or if the folder
    ///   cannot be created or used.
    public init(folder: String, key: [UInt8]?) throws(CredentialStoreError) {
        if let key, key.count != 32 { throw .failed("A key must have 32 bytes, not \(key.count).") }
        self.folder = folder
        self.key = key.map { SymmetricKey(data: $0) }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch { throw .failed("The folder for credentials cannot be created.") }
    }

    /// Creates a store with the key of the environment, if it has one.
    ///
    /// - Parameters:
    ///   - folder: The folder, which is created if it is missing.
    ///   - environment: The environment with ``keyVariable``, by default the process's.
    /// - Throws: ``CredentialStoreError`` if the key is not 32 bytes in base64, or if the folder
    ///   cannot be created or used.
    public init(
        folder: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CredentialStoreError) {
        let text = environment[Self.keyVariable] ?? ""
        guard let key = Data(base64Encoded: text) else {
            throw .failed("\(Self.keyVariable) is not base64.")
        }
        try self.init(folder: folder, key: text.isEmpty ? nil : [UInt8](key))
    }

    public func read(_ key: CredentialKey) throws(CredentialStoreError) -> [UInt8]? {
        guard let bytes = try file(key) else { return nil }
        guard let first = bytes.first, let format = Format(rawValue: first) else {
            throw .failed("The stored \(key.rawValue) is damaged.")
        }
        let content = bytes.dropFirst()
        switch (format, self.key) {
        case (.plain, _): return Array(content)
        case (.sealed, nil): throw .failed("The stored \(key.rawValue) needs a key.")
        case (.sealed, let secret?):
            do {
                return [UInt8](
                    try AES.GCM.open(
                        AES.GCM.SealedBox(combined: content), using: secret,
                        authenticating: Array(key.rawValue.utf8)))
            } catch { throw .failed("The stored \(key.rawValue) was encrypted with another key.") }
        }
    }

    public func write(_ key: CredentialKey, _ secret: [UInt8]?) throws(CredentialStoreError) {
        let bytes = try secret.map { plain throws(CredentialStoreError) in try seal(plain, key) }
        do throws(DurableFile.Failure) { try location(of: key).write(bytes) } catch {
            throw .failed(error.detail)
        }
    }

    /// The first byte of a file.
    private enum Format: UInt8 { case plain = 1, sealed = 2 }

    private func seal(_ plain: [UInt8], _ name: CredentialKey) throws(CredentialStoreError)
        -> [UInt8]
    {
        guard let key else { return [Format.plain.rawValue] + plain }
        do {
            let box = try AES.GCM.seal(plain, using: key, authenticating: Array(name.rawValue.utf8))
            guard let sealed = box.combined else {
                throw CredentialStoreError.failed("It could not be encrypted.")
            }
            return [Format.sealed.rawValue] + sealed
        } catch { throw .failed("It could not be encrypted.") }
    }

    private func location(of key: CredentialKey) -> DurableFile {
        DurableFile(path: folder + "/" + key.rawValue + ".credential")
    }

    private func file(_ key: CredentialKey) throws(CredentialStoreError) -> [UInt8]? {
        do throws(DurableFile.Failure) { return try location(of: key).read() } catch {
            // Protected files of a locked device return this code.
            throw error.code == EPERM ? .locked : .failed(error.detail)
        }
    }
}
