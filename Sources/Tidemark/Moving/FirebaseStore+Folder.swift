public import Foundation

extension FirebaseStore {
    /// The name of the app of `FirebaseApp.configure()`.
    public static var defaultApp: String { "__FIRAPP_DEFAULT" }

    /// Where FirebaseFirestore keeps the cache of a database, if it has one on this device: in the
    /// folder for an app's own data or, on tvOS, for caches. Its versions from before 2020 had it in
    /// the folder for documents, from where later ones moved it at their first start.
    ///
    /// - Parameters:
    ///   - projectID: The project's id.
    ///   - databaseID: The database of the project.
    ///   - app: The name of the `FirebaseApp`.
    /// - Returns: Nil when there is none.
    public static func folder(
        projectID: String, databaseID: String = "(default)", app: String = defaultApp
    ) -> URL? {
        roots.lazy.map { folder(in: $0, projectID, databaseID, app) }.first { folder in
            FileManager.default.fileExists(atPath: folder.appendingPathComponent("CURRENT").path)
        }
    }

    /// A dot stands between project and database, and neither for the default one.
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
