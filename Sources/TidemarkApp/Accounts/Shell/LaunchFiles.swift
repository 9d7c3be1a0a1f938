import Foundation
import Synchronization
import TidemarkSystem

/// The launch data on this device: the installation's id, the last user, the local flag, and the
/// journal of a sign-up. The files are small, and each is complete at every moment.
public final class LaunchFiles: Sendable {
    public struct Failure: Error, Hashable, Sendable {
        /// The reason, for the log.
        public let detail: String
    }

    struct Facts: Codable, Hashable {
        var installation: String
        var lastUser: UserID?
        var completeProfile: UserID?
        /// The user whose account is being deleted, for identities whose session ends with the
        /// account.
        var removing: UserID?
    }

    private let factsFile: DurableFile
    private let journalFile: DurableFile
    private let facts: Mutex<Facts>

    /// Opens the folder, and creates a new installation in it if there is none.
    ///
    /// - Throws: ``Failure`` if the folder cannot be read or written. An unreadable file never
    ///   counts as missing.
    public init(folder: String) throws(Failure) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch { throw Failure(detail: "The folder of the launch cannot be created.") }
        factsFile = DurableFile(path: folder + "/launch.json")
        journalFile = DurableFile(path: folder + "/account-job.json")
        if let known = try Self.read(factsFile, as: Facts.self) {
            facts = Mutex(known)
        } else {
            let new = Facts(installation: UUID().uuidString)
            facts = Mutex(new)
            try Self.write(new, to: factsFile)
        }
    }

    public var installation: String { facts.withLock { $0.installation } }
    /// The last user of the app on this device: for `FirestoreSettings.user`, so the device's data
    /// are available before any server is asked.
    public var lastUser: UserID? { facts.withLock { $0.lastUser } }
    var known: Facts { facts.withLock { $0 } }

    /// Changes the stored facts, first on disk.
    func update(_ change: (inout Facts) -> Void) throws(Failure) {
        let result: Result<Void, Failure> = facts.withLock { facts in
            var new = facts
            change(&new)
            if new == facts { return .success(()) }
            do throws(Failure) { try Self.write(new, to: factsFile) } catch {
                return .failure(error)
            }
            facts = new
            return .success(())
        }
        try result.get()
    }

    /// Returns the record of the journal; nil if there is none.
    func record() throws(Failure) -> AccountRecord? {
        try Self.read(journalFile, as: AccountRecord.self)
    }

    func setRecord(_ record: AccountRecord?) throws(Failure) {
        guard let record else {
            do throws(DurableFile.Failure) { return try journalFile.write(nil) } catch {
                throw Failure(detail: error.detail)
            }
        }
        try Self.write(record, to: journalFile)
    }

    private static func read<T: Decodable>(
        _ file: DurableFile, as type: T.Type
    ) throws(Failure) -> T? {
        let bytes: [UInt8]?
        do throws(DurableFile.Failure) { bytes = try file.read() } catch {
            throw Failure(detail: error.detail)
        }
        guard let bytes else { return nil }
        guard let value = try? JSONDecoder().decode(type, from: Data(bytes)) else {
            throw Failure(detail: "\((file.path as NSString).lastPathComponent) is damaged.")
        }
        return value
    }

    private static func write(
        _ value: some Encodable, to file: DurableFile
    ) throws(Failure) {
        guard let bytes = try? JSONEncoder().encode(value) else {
            throw Failure(detail: "It cannot be encoded.")
        }
        do throws(DurableFile.Failure) { try file.write([UInt8](bytes)) } catch {
            throw Failure(detail: error.detail)
        }
    }
}
