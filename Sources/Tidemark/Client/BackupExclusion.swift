import Foundation

/// Excludes the cache from a device's backups. Otherwise, on another device, a restored queue would
/// send writes that were already sent, and a backup would contain a user's documents.
enum BackupExclusion {
    /// - Parameter file: A file in the folder that the app chose for the cache. The folder is
    ///   created if it is missing. An error is ignored, because the cache works without the
    ///   exclusion.
    static func exclude(folderOf file: String) {
        #if canImport(Darwin)
            var folder = URL(fileURLWithPath: file).deletingLastPathComponent()
            try? FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? folder.setResourceValues(values)
        #endif
    }
}
