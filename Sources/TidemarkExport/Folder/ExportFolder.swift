import Foundation
import TidemarkSystem

/// An export's folder while it is written: beside its place under a name of its own, and in its place
/// only when it is whole.
package struct ExportFolder {
    private let place: String
    private let mark: ExportDraft
    /// Where to write until ``commit()``. Nobody else may read it, nor what becomes of it.
    package var draft: String { mark.path }

    /// - Parameter place: Where the export is to be. It may be missing, empty, or an export.
    /// - Throws: ``ExportError`` when something else is there, or the folder cannot be made.
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

    /// Puts what was written in its place. An export that was there is there until then, and is removed
    /// after: at no moment is there none.
    ///
    /// - Throws: Where that cannot be done; what was written is removed then.
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
            // What was there has the draft's name now.
            try files.removeItem(atPath: draft)
        } catch let error as ExportError { throw error } catch {
            throw .file(path: place, reason: error.localizedDescription)
        }
    }

    /// Removes what was written. What was in its place stays.
    package func abandon() {
        try? FileManager.default.removeItem(atPath: draft)
        mark.letGo()
    }

    /// The two names change their folders, in one step where the file system can.
    private static func exchange(_ one: String, _ other: String) throws(ExportError) {
        if SystemCalls.exchange(one, other) { return }
        // Two steps. A kill between them leaves the old export under this name.
        let old = other + ".before"
        guard rename(other, old) == 0, rename(one, other) == 0, rename(old, one) == 0 else {
            throw .file(path: other, reason: String(cString: strerror(errno)))
        }
    }
}
