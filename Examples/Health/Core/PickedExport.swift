import Foundation
import TidemarkHealth

/// The export that a person has picked, in the app's folder until it is in the store: an app that is killed
/// meanwhile goes on with it at its next launch.
struct PickedExport: Sendable {
    private let folder: URL

    init(folder: String) { self.folder = URL(fileURLWithPath: folder + "/export") }

    /// Nil where there is none.
    var file: URL? {
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        return files?.first
    }

    /// Links it, which takes no time and no space, or copies it where that cannot be.
    @concurrent
    func keep(_ file: URL) async throws(HealthExportError) {
        let files = FileManager.default
        // What a kill leaves of a copy is no export.
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
