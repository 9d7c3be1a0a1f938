import Foundation
import Synchronization

/// The clients that ``Firestore/firestore(database:)`` has made, by database.
enum Instances {
    private static let made = Mutex<[DatabaseID: Firestore]>([:])
    /// The clients that refuse every call, by project and database. The same names give the same
    /// client, so a view that requests it again shows the same. These clients store nothing.
    private static let refusing = Mutex<[[String]: Firestore]>([:])
    private static let defaultProject = Mutex<String?>(nil)

    static func configure(projectID: String) {
        defaultProject.withLock { $0 = projectID }
    }

    static func client(of database: String) -> Firestore {
        let environment = ProcessInfo.processInfo.environment
        let project =
            defaultProject.withLock { $0 } ?? environment["GOOGLE_CLOUD_PROJECT"]
            ?? environment["GCLOUD_PROJECT"]
        var setup = Setup(settings: FirestoreSettings.Values())
        var id = DatabaseID.unnamed
        do throws(InvalidPath) {
            if let project { id = try DatabaseID(project: project, database: database) }
        } catch { setup.fault = FirestoreError(error) }
        if project == nil {
            setup.fault = FirestoreError(
                .failedPrecondition, "No project: call Firestore.configure(projectID:) first.")
        }
        if setup.fault != nil {
            return refusing.withLock { [setup, id] clients in
                let key = [project ?? "", database]
                let client = clients[key] ?? Firestore(id, setup)
                clients[key] = client
                return client
            }
        }
        return made.withLock { [setup] instances in
            if let known = instances[id] { return known }
            let new = Firestore(id, setup)
            instances[id] = new
            return new
        }
    }

    /// Removes the client, so the next caller gets a new one.
    static func forget(_ firestore: Firestore) {
        made.withLock { instances in
            if instances[firestore.databaseID] === firestore {
                instances[firestore.databaseID] = nil
            }
        }
    }
}

extension DatabaseID {
    /// The database of a client that has no project and refuses every call.
    fileprivate static let unnamed = try! DatabaseID(project: "no-project", database: "(default)")
}
