import Foundation
import TidemarkSystem

/// Messages from other processes to the process that holds a database: one file each, in a folder
/// beside the database.
///
/// A message is completely on disk or does not exist. Without a key it has a checksum; with a key
/// it is encrypted like the database's pages. Both are bound to the message's name, so a message
/// that the disk has changed or moved to another name is rejected.
package struct StoreInbox: Sendable {
    private let folder: String
    private let key: StoreKeySource?

    /// The maximum size of a message: the protocol's largest request of 10 MiB, with a margin.
    private static let longest = 16 << 20
    private static let ending = ".write"
    private static let damagedEnding = ".damaged"
    private static let request = "wanted"

    /// - Parameter path: The path of the database.
    package init(of path: String, key: StoreKeySource? = nil) {
        folder = path + ".inbox"
        self.key = key
    }

    /// The contents of an inbox.
    package struct Contents: Hashable, Sendable {
        /// The names of the messages, sorted.
        package var names: [String]
        /// True if another process asks for the database.
        package var isWanted: Bool

        package init(names: [String] = [], isWanted: Bool = false) {
            self.names = names
            self.isWanted = isWanted
        }
    }

    /// Returns the contents. Costs one system call if there is no inbox.
    package func contents() -> Contents {
        guard access(folder, F_OK) == 0,
            let files = try? FileManager.default.contentsOfDirectory(atPath: folder)
        else { return Contents() }
        let names = files.filter { $0.hasSuffix(Self.ending) }.map {
            String($0.dropLast(Self.ending.count))
        }
        return Contents(names: names.sorted(), isWanted: files.contains(Self.request))
    }

    // MARK: Messages

    /// Adds a message, which is on disk when the function returns.
    ///
    /// - Parameter name: Letters, digits and hyphens. Messages are read in the order of their
    ///   names.
    package func add(_ message: [UInt8], _ name: String) throws(StoreError) {
        let bytes = try SealedMessage.seal(message, name: name, key: key)
        guard bytes.count <= Self.longest else { throw .invalidStatement(detail: "a long message") }
        try makeFolder()
        let file = file(name)
        try attempt { () throws(DurableFile.Failure) in try file.write(bytes) }
    }

    /// - Returns: The message; nil if it no longer exists.
    /// - Throws: ``StoreError/corrupt(detail:)`` for a damaged message.
    package func message(_ name: String) throws(StoreError) -> [UInt8]? {
        let file = file(name)
        let bytes = try attempt { () throws(DurableFile.Failure) in try file.read() }
        guard let bytes else { return nil }
        return try SealedMessage.open(bytes, name: name, key: key)
    }

    /// Removes a message, which is gone from disk when the function returns, even after a loss of
    /// power.
    package func remove(_ name: String) throws(StoreError) {
        let file = file(name)
        try attempt { () throws(DurableFile.Failure) in try file.write(nil) }
    }

    /// Renames an unreadable message, so that it no longer blocks the inbox.
    package func setAside(_ name: String) throws(StoreError) {
        let path = file(name).path
        guard rename(path, path + Self.damagedEnding) == 0 || errno == ENOENT else {
            throw .unreadable(detail: "a message cannot be set aside")
        }
    }

    // MARK: Asking for the database

    package func ask() throws(StoreError) {
        try makeFolder()
        let file = open(folder + "/" + Self.request, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .unreadable(detail: "the database cannot be asked for") }
        close(file)
    }

    package func endRequest() { unlink(folder + "/" + Self.request) }

    // MARK: The folder

    /// Encrypts the messages with another key. After a kill, the call can be repeated: messages
    /// with the new key stay unchanged.
    package static func changeKey(
        of path: String, from old: StoreKeySource?, to new: @escaping StoreKeySource
    ) throws(StoreError) {
        let (old, new) = (StoreInbox(of: path, key: old), StoreInbox(of: path, key: new))
        for name in old.contents().names {
            if let message = try old.readable(name), let message { try new.add(message, name) }
        }
    }

    /// - Returns: The message; the outer nil if it is encrypted with another key or unreadable.
    private func readable(_ name: String) throws(StoreError) -> [UInt8]?? {
        do throws(StoreError) { return try message(name) } catch {
            switch error {
            case .wrongKey, .keyMissing, .corrupt: return nil
            default: throw error
            }
        }
    }

    /// Deletes the inbox with its messages.
    package static func erase(of path: String) throws(StoreError) {
        let folder = path + ".inbox"
        guard access(folder, F_OK) == 0 else { return }
        do { try FileManager.default.removeItem(atPath: folder) } catch {
            throw StoreError(error)
        }
    }

    private func makeFolder() throws(StoreError) {
        if access(folder, F_OK) == 0 { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch { throw StoreError(error) }
    }

    private func file(_ name: String) -> DurableFile {
        DurableFile(path: folder + "/" + name + Self.ending, maxBytes: Self.longest)
    }

    private func attempt<Success>(
        _ body: () throws(DurableFile.Failure) -> Success
    ) throws(StoreError) -> Success {
        do throws(DurableFile.Failure) { return try body() } catch {
            switch error.code {
            case ENOSPC, EDQUOT: throw .full
            case EPERM: throw .protected
            default: throw .unreadable(detail: error.detail)
            }
        }
    }
}
