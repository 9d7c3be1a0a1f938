import Foundation
import TidemarkHealth

/// The export that the user has picked. It stays in the app's folder until it is in the store. If
/// the app is killed before that, the next launch continues with it.
struct PickedExport: Sendable {
    private let folder: URL

    init(folder: String) { self.folder = URL(fileURLWithPath: folder + "/export") }

    /// The picked file; nil if there is none.
    var file: URL? {
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        return files?.first
    }

    /// Links the file, which takes no time and no space, or copies it if linking fails.
    @concurrent
    func keep(_ file: URL) async throws(HealthExportError) {
        let files = FileManager.default
        // A kill during the copy leaves only this part, which does not count as an export.
        let part = folder.appendingPathExtension("part")
        let copy = part.appendingPathComponent(file.lastPathComponent)
        forget()
        try? files.removeItem(at: part)
        do {
            try files.createDirectory(at: part, withIntermediateDirectories: true)
            do { try files.linkItem(at: file, to: copy) } catch {
                try files.copyItem(at: file, to: copy)
            }
            try files.moveItem(at: part, to: folder)
        } catch {
            throw .unreadable(file: file.lastPathComponent, detail: error.localizedDescription)
        }
    }

    func forget() { try? FileManager.default.removeItem(at: folder) }
}
