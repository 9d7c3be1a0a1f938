import Foundation
import TidemarkStore

/// The files of a process that is killed, as they lie at that moment.
///
/// An engine or a server that is let go closes its file, which moves SQLite's log into it and deletes
/// the log. No kill does that: the files are copied before, and put back for the next process.
struct WorldRemains {
    private static let endings = ["", "-wal", "-shm"]
    private static let kept = ".remains"
    /// A log of nothing but its header holds no page.
    private static let emptyLog = 32

    private let databases: [String]
    /// How many of the files have a log with pages in it.
    let logs: Int

    /// - Parameter prefix: What the paths of the process's databases begin with.
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

    /// To be called once nobody has the files open.
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
