import Foundation
import Synchronization
import TidemarkSystem

/// What a launch keeps on this device: the installation's id, the last user, the local flag, and the
/// journal of a sign-up. Small files, each whole at every moment.
public final class LaunchFiles: Sendable {
    public struct Failure: Error, Hashable, Sendable {
        /// For the log.
        public let detail: String
    }

    struct Facts: Codable, Hashable {
        var installation: String
        var lastUser: UserID?
        var completeProfile: UserID?
    }

    private let factsFile: DurableFile
    private let journalFile: DurableFile
    private let facts: Mutex<Facts>

    /// Opens the folder, and makes a new installation of it where there is none.
    ///
    /// - Throws: ``Failure`` when it cannot be read or written: nothing is taken for missing then.
    public init(folder: String) throws(Failure) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch { throw Failure(detail: "The folder of the launch cannot be made.") }
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
    /// Who used the app on this device last: for `FirestoreSettings.user`, so that what the device
    /// holds is there before anybody is asked.
    public var lastUser: UserID? { facts.withLock { $0.lastUser } }
    var known: Facts { facts.withLock { $0 } }

    /// Changes what is known, on disk first.
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

    /// What the journal holds; nil for nothing.
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
