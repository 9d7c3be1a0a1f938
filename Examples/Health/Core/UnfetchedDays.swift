import Foundation

/// Records that this device must still fetch the days of other devices. The record is a file, so an
/// app that is killed during the download continues it at its next launch. A device that imports an
/// export does not fetch them.
struct UnfetchedDays: Sendable {
    private let file: String

    init(folder: String) { file = folder + "/unfetched-days" }

    var isPending: Bool { FileManager.default.fileExists(atPath: file) }

    func begin() { _ = FileManager.default.createFile(atPath: file, contents: nil) }

    func end() { try? FileManager.default.removeItem(atPath: file) }
}
