import Foundation

/// A path for a database in a folder of its own, gone with whatever was made beside it when it is let go.
final class TemporaryFile {
    let path: String
    private let folder: URL

    init() {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("cache.sqlite").path
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
