import Foundation
import TidemarkSystem

/// The folder of an export while it is written. It has its own name next to the final place, and
/// moves to that place when it is complete.
package struct ExportFolder {
    private let place: String
    private let mark: ExportDraft
    /// The folder to write into until ``commit()``. No other user can read it, before and after
    /// ``commit()``.
    package var draft: String { mark.path }

    /// - Parameter place: The final place of the export. It can be missing, an empty folder, or an
    ///   export.
    /// - Throws: ``ExportError`` if other files are there, or if the folder cannot be made.
    package init(at place: String) throws(ExportError) {
        let url = URL(fileURLWithPath: place).standardizedFileURL
        self.place = url.path
        try Self.checkMayReplace(self.place)
        mark = try ExportDraft.folder(beside: self.place)
    }

    private static func checkMayReplace(_ place: String) throws(ExportError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder) else { return }
        guard isFolder.boolValue,
            let contents = try? FileManager.default.contentsOfDirectory(atPath: place)
        else { throw .holdsSomethingElse(folder: place) }
        let isExport =
            contents.isEmpty || contents.contains(ExportListing.fileName)
            || contents.contains { $0.hasSuffix(ExportListing.overallSuffix) }
        if !isExport { throw .holdsSomethingElse(folder: place) }
    }

    /// Moves the new export to its final place, and then removes an export that was there. The two
    /// are exchanged in one step if the file system can do that; otherwise, the place is empty for
    /// a moment.
    ///
    /// - Throws: ``ExportError`` if the move fails. The new export is then removed.
    package func commit() throws(ExportError) {
        defer { mark.letGo() }
        do throws(ExportError) { try replace() } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw error
        }
    }

    private func replace() throws(ExportError) {
        do {
            let files = FileManager.default
            guard files.fileExists(atPath: place) else {
                try files.moveItem(atPath: draft, toPath: place)
                return
            }
            try Self.exchange(draft, place)
            // After the exchange, the old export has the draft's name.
            try files.removeItem(atPath: draft)
        } catch let error as ExportError { throw error } catch {
            throw .file(path: place, reason: error.localizedDescription)
        }
    }

    /// Removes the new export. An export at the final place remains.
    package func abandon() {
        try? FileManager.default.removeItem(atPath: draft)
        mark.letGo()
    }

    /// Exchanges two folders, in one step if the file system can do that.
    private static func exchange(_ one: String, _ other: String) throws(ExportError) {
        if SystemCalls.exchange(one, other) { return }
        // If the process is killed between these steps, the old export remains under this name.
        let old = other + ".before"
        guard rename(other, old) == 0, rename(one, other) == 0, rename(old, one) == 0 else {
            throw .file(path: other, reason: String(cString: strerror(errno)))
        }
    }
}
