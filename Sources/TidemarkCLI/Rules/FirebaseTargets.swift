import Foundation

/// The deploy targets of a `.firebaserc`: names that stand for databases.
enum FirebaseTargets {
    /// Returns the ids of the databases of an entry in a `firebase.json`.
    ///
    /// - Parameters:
    ///   - database: The id in the entry; nil if there is none.
    ///   - target: The target in the entry; nil if there is none. The ids of all projects count,
    ///     because a local server serves every project.
    ///   - folder: The folder of both files.
    /// - Returns: `(default)` if the entry has neither; nothing for an unknown target.
    static func ids(of database: String?, target: String?, in folder: URL) -> [String] {
        if let database { return [database] }
        guard let target else { return ["(default)"] }
        let path = folder.appendingPathComponent(".firebaserc").path
        guard let data = FileManager.default.contents(atPath: path),
            let contents = try? JSONDecoder().decode(Contents.self, from: data)
        else { return [] }
        let projects = (contents.targets ?? [:]).sorted { $0.key < $1.key }
        return projects.flatMap { $0.value.firestore?[target] ?? [] }
    }

    private struct Contents: Decodable {
        struct Project: Decodable { let firestore: [String: [String]]? }

        let targets: [String: Project]?
    }
}
