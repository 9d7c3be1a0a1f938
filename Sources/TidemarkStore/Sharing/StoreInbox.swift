import Foundation
import TidemarkSystem

/// Messages that other processes leave for the one that holds a database: a file each, in a folder beside
/// the database's.
///
/// A message is whole and on the disk, or it is not there. Without a key it has a sum, with one it is
/// encrypted as the pages of the database are, and in both cases it is bound to its name: what the disk has
/// changed, or put under another name, is refused.
package struct StoreInbox: Sendable {
    private let folder: String
    private let key: StoreKeySource?

    /// A message of a protocol whose largest request is 10 MiB, and what it takes to say so.
    private static let longest = 16 << 20
    private static let ending = ".write"
    private static let damagedEnding = ".damaged"
    private static let request = "wanted"

    /// - Parameter path: The database's file.
    package init(of path: String, key: StoreKeySource? = nil) {
        folder = path + ".inbox"
        self.key = key
    }

    /// What lies in an inbox.
    package struct Contents: Hashable, Sendable {
        /// Of the messages, in the order of their names.
        package var names: [String]
        /// Whether somebody asks for the database.
        package var isWanted: Bool

        package init(names: [String] = [], isWanted: Bool = false) {
            self.names = names
            self.isWanted = isWanted
        }
    }

    /// Costs one call of the system where there is no inbox.
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

    /// On the disk when it returns.
    ///
    /// - Parameter name: Of letters, digits and hyphens. Names in their order are messages in theirs.
    package func add(_ message: [UInt8], _ name: String) throws(StoreError) {
        let bytes = try SealedMessage.seal(message, name, key)
        guard bytes.count <= Self.longest else { throw .invalidStatement(detail: "a long message") }
        try makeFolder()
        let file = file(name)
        try attempt { () throws(DurableFile.Failure) in try file.write(bytes) }
    }

    /// - Returns: Nil when there is no such message any more.
    /// - Throws: ``StoreError/corrupt(detail:)`` for one that is not as it was written.
    package func message(_ name: String) throws(StoreError) -> [UInt8]? {
        let file = file(name)
        let bytes = try attempt { () throws(DurableFile.Failure) in try file.read() }
        guard let bytes else { return nil }
        return try SealedMessage.open(bytes, name, key)
    }

    /// Not there any more when it returns, also after a loss of power.
    package func remove(_ name: String) throws(StoreError) {
        let file = file(name)
        try attempt { () throws(DurableFile.Failure) in try file.write(nil) }
    }

    /// Keeps a message that cannot be read out of everybody's way, under a name of its own.
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

    /// Encrypts the messages with another key. After a kill in between it is done again: those that have the
    /// new key already stay as they are.
    package static func changeKey(
        of path: String, from old: StoreKeySource?, to new: @escaping StoreKeySource
    ) throws(StoreError) {
        let (old, new) = (StoreInbox(of: path, key: old), StoreInbox(of: path, key: new))
        for name in old.contents().names {
            if let message = try old.readable(name), let message { try new.add(message, name) }
        }
    }

    /// - Returns: The outer nil for a message that has another key, or that nobody can read.
    private func readable(_ name: String) throws(StoreError) -> [UInt8]?? {
        do throws(StoreError) { return try message(name) } catch {
            switch error {
            case .wrongKey, .keyMissing, .corrupt: return nil
            default: throw error
            }
        }
    }

    /// Deletes it with all that lies in it.
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
