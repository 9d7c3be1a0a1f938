import Foundation

/// The properties that change with a file, which may be written in place or replaced by another
/// file.
struct FileStamp: Hashable {
    private let date: Date?
    private let size: Int?
    private let number: Int?

    /// Returns nil if there is no such file.
    init?(_ path: String) {
        guard let found = try? FileManager.default.attributesOfItem(atPath: path) else {
            return nil
        }
        date = found[.modificationDate] as? Date
        size = (found[.size] as? NSNumber)?.intValue
        number = (found[.systemFileNumber] as? NSNumber)?.intValue
    }
}
