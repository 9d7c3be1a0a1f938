import Foundation

/// The path of a database in its own folder. The folder is deleted with its contents when this
/// object is released.
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
