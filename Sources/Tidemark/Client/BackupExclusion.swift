import Foundation

/// Keeps the cache out of a device's backups: on another device, a restored queue would send writes that
/// were sent, and the documents of a person would lie in a backup.
enum BackupExclusion {
    /// - Parameter file: A file in the folder that the app gave to the cache. The folder is made where it
    ///   is missing. What fails is left: the cache works without.
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
