public import Foundation

extension FirebaseStore {
    /// Removes the folder of a store. A removal that is interrupted, by a kill or an error, leaves
    /// no store: the folder gets another name first, and the next call of
    /// ``folder(projectID:databaseID:app:)`` or of this function removes the rest.
    ///
    /// Call it when ``CacheTakeOver/Outcome/mayRemove`` is true, or when
    /// ``Firestore/writesLeft(in:)`` returns nothing: writes that are left in the folder are lost.
    ///
    /// - Throws: The error of the system, for example if the folder is not accessible now.
    public static func remove(_ folder: URL) throws {
        let removal = Removal(of: folder)
        while try removal.step() {}
    }

    /// The steps of a removal.
    struct Removal {
        private let folder: URL
        private let files = FileManager.default

        init(of folder: URL) { self.folder = folder }

        /// The name that a folder has while it is removed. Nobody looks for a store there.
        private var renamed: URL {
            folder.deletingLastPathComponent()
                .appendingPathComponent(folder.lastPathComponent + "-removed")
        }

        private func exists(_ url: URL) -> Bool { files.fileExists(atPath: url.path) }

        /// Performs the next step.
        ///
        /// - Returns: False if nothing was left to do.
        func step() throws -> Bool {
            if exists(renamed) {
                try files.removeItem(at: renamed)
            } else if exists(folder) {
                try files.moveItem(at: folder, to: renamed)
            } else {
                return false
            }
            return true
        }

        /// Removes what an interrupted removal has left; a failure is ignored until the next time.
        func removeRest() {
            if exists(renamed) { try? files.removeItem(at: renamed) }
        }
    }
}
