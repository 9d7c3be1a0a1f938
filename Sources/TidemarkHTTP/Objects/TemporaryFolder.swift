import Foundation
import TidemarkObjects
import TidemarkSystem

/// A folder that exists while this process uses it. Folders of processes that were killed are
/// removed when the next one is made.
final class TemporaryFolder: Sendable {
    let path: String
    /// A descriptor of the folder, which is locked while the process lives.
    private let lock: Int32

    /// The number of attempts. An attempt fails if another process that starts removes the new
    /// folder before its mode is set, or before it is locked.
    private static let attempts = 8

    /// - Parameter name: The start of the folder's name.
    init(named name: String) throws(ObjectRefusal) {
        let parent = FileManager.default.temporaryDirectory.path
        Self.removeAbandoned(in: parent, named: name)
        for _ in 0..<Self.attempts {
            let path = "\(parent)/\(name)-\(UUID().uuidString)"
            let error = PrivateFiles.makeFolder(path)
            if error == ENOENT { continue }
            guard error == 0 else {
                throw .unavailable("The temporary folder \(path) cannot be made.")
            }
            let lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if lock < 0 { continue }
            if PrivateFiles.take(lock), FileManager.default.fileExists(atPath: path) {
                (self.path, self.lock) = (path, lock)
                return
            }
            close(lock)
        }
        throw .unavailable("No temporary folder in \(parent) can be locked.")
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    deinit { if lock >= 0 { close(lock) } }

    private static func removeAbandoned(in parent: String, named name: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for found in names where found.hasPrefix(name + "-") {
            let path = parent + "/" + found
            let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            guard folder >= 0 else { continue }
            defer { close(folder) }
            if PrivateFiles.take(folder) { try? FileManager.default.removeItem(atPath: path) }
        }
    }
}
