import Foundation
import TidemarkObjects
import TidemarkSystem

/// A folder that exists while this process uses it. Folders of processes that were killed are
/// removed when the next one is made.
final class TemporaryFolder: Sendable {
    let path: String
    /// A descriptor of the folder, which is locked while the process lives.
    private let lock: Int32

    /// - Parameter name: The start of the folder's name.
    init(named name: String) throws(ObjectRefusal) {
        let parent = FileManager.default.temporaryDirectory.path
        Self.removeAbandoned(in: parent, named: name)
        path = "\(parent)/\(name)-\(UUID().uuidString)"
        guard PrivateFiles.makeFolder(path) == 0 else {
            throw .unavailable("The temporary folder \(path) cannot be made.")
        }
        lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0, PrivateFiles.take(lock) else {
            throw .unavailable("The temporary folder \(path) cannot be locked.")
        }
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
