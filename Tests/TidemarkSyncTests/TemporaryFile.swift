import Foundation

/// A path for a database, gone with its files when it is let go.
final class TemporaryFile {
    let path: String

    init() {
        let folder = FileManager.default.temporaryDirectory
        path = folder.appendingPathComponent("tidemark-\(UUID().uuidString).sqlite").path
    }

    deinit {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}
