public import Foundation

extension FirebaseStore {
    /// The name of the app of `FirebaseApp.configure()`.
    public static var defaultApp: String { "__FIRAPP_DEFAULT" }

    /// Returns the folder of FirebaseFirestore's cache of a database, if it exists on this device:
    /// in the folder for an app's own data or, on tvOS, for caches. Versions from before 2020 used
    /// the folder for documents, from which later versions moved it at their first start.
    ///
    /// - Parameters:
    ///   - projectID: The project's id.
    ///   - databaseID: The database of the project.
    ///   - app: The name of the `FirebaseApp`.
    /// - Returns: Nil if there is no such folder.
    public static func folder(
        projectID: String, databaseID: String = "(default)", app: String = defaultApp
    ) -> URL? {
        folder(in: roots, projectID, databaseID, app)
    }

    static func folder(
        in roots: [URL], _ projectID: String, _ databaseID: String, _ app: String
    ) -> URL? {
        roots.lazy.map { folder(in: $0, projectID, databaseID, app) }.first { folder in
            Removal(of: folder).removeRest()
            return FileManager.default.fileExists(
                atPath: folder.appendingPathComponent("CURRENT").path)
        }
    }

    /// A dot separates project and database; the default database has neither a dot nor a name.
    static func folder(
        in root: URL, _ projectID: String, _ databaseID: String, _ app: String
    ) -> URL {
        let database = databaseID == "(default)" ? "" : "." + databaseID
        return [app, projectID + database, "main"].reduce(root) { $0.appendingPathComponent($1) }
    }

    private static var roots: [URL] {
        [FileManager.SearchPathDirectory.applicationSupportDirectory, .cachesDirectory]
            .flatMap { FileManager.default.urls(for: $0, in: .userDomainMask) }
            .map { $0.appendingPathComponent("firestore") }
    }
}
