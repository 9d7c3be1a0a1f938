import Foundation
import Synchronization

/// The clients that ``Firestore/firestore(database:)`` has made, by database.
private let instances = Mutex<[DatabaseID: Firestore]>([:])
private let defaultProject = Mutex<String?>(nil)

extension Firestore {
    /// Names the project of ``firestore(database:)``: what configuring the app is for
    /// FirebaseFirestore. To be called before the first use of either; clients that there are stay as
    /// they are.
    public static func configure(projectID: String) {
        defaultProject.withLock { $0 = projectID }
    }

    /// The client of the default database, one for the whole process.
    public static func firestore() -> Firestore { firestore(database: "(default)") }

    /// The client of a database, one for the whole process until it is terminated. Opens nothing
    /// before its first use, so that ``settings`` can be set first.
    ///
    /// The project is the one that ``configure(projectID:)`` named or, without it, the environment's
    /// `GOOGLE_CLOUD_PROJECT` or `GCLOUD_PROJECT`. Where there is none, or the database's name is no
    /// name, every use throws why.
    public static func firestore(database: String) -> Firestore {
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
        if setup.fault != nil { return Firestore(id, setup) }
        return instances.withLock { [setup] instances in
            if let known = instances[id] { return known }
            let new = Firestore(id, setup)
            instances[id] = new
            return new
        }
    }

    /// The next one that asks gets a new client.
    static func forget(_ firestore: Firestore) {
        instances.withLock { instances in
            if instances[firestore.databaseID] === firestore {
                instances[firestore.databaseID] = nil
            }
        }
    }

    /// Speaks to a server on this machine, without TLS. To be called before the first use.
    public func useEmulator(withHost host: String, port: Int) {
        let settings = settings
        settings.host = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        settings.isSSLEnabled = false
        self.settings = settings
    }
}

extension DatabaseID {
    /// Of a client that has no project and refuses everything.
    fileprivate static let unnamed = try! DatabaseID(project: "no-project", database: "(default)")
}
