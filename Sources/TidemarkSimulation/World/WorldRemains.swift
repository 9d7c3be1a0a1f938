import Foundation
import TidemarkStore

/// The files of a killed process, as the kill left them.
///
/// An engine or a server that is released closes its file, which moves SQLite's log into the file
/// and deletes the log. A kill does not do that, so the files are copied first, and the copies
/// replace them for the next process.
struct WorldRemains {
    private static let endings = ["", "-wal", "-shm"]
    private static let kept = ".remains"
    /// The size in bytes of a log that contains only its header.
    private static let emptyLog = 32

    private let databases: [String]
    /// The number of files whose log contains pages.
    let logs: Int

    /// - Parameter prefix: The common prefix of the paths of the process's databases.
    init(of prefix: String) throws {
        databases = DocumentStore.files(beginningWith: prefix).filter { Self.exists($0 + "-wal") }
        logs = try databases.count { try Self.size($0 + "-wal") > Self.emptyLog }
        for path in databases {
            for ending in Self.endings {
                try Self.remove(path + Self.kept + ending)
                if !Self.exists(path + ending) { continue }
                try FileManager.default.copyItem(
                    atPath: path + ending, toPath: path + Self.kept + ending)
            }
        }
    }

    /// Restores the files. Call it when no process has them open.
    func putBack() throws {
        for path in databases {
            for ending in Self.endings {
                try Self.remove(path + ending)
                if Self.exists(path + Self.kept + ending) {
                    try FileManager.default.moveItem(
                        atPath: path + Self.kept + ending, toPath: path + ending)
                }
            }
        }
    }

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    private static func remove(_ path: String) throws {
        if exists(path) { try FileManager.default.removeItem(atPath: path) }
    }

    private static func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}
