import ArgumentParser
import Tidemark
import TidemarkHTTP

/// The options that name a command's database.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "The project.")
    var project = "demo"

    @Option(help: "The database of the project.")
    var database = "(default)"

    @Option(
        help: "HOST:PORT of a server without TLS. (default: FIRESTORE_EMULATOR_HOST)")
    var host: String?

    func firestore(
        cache: FirestoreSettings.Cache = .memory,
        onBusyCache: FirestoreSettings.BusyCache = .fail, label: String
    ) throws -> Firestore {
        let settings = FirestoreSettings(
            cache: cache, label: label, token: TokenVariable.value, onBusyCache: onBusyCache)
        if let host {
            settings.host = host
            settings.isSSLEnabled = false
        }
        return try Firestore(projectID: project, databaseID: database, settings: settings)
    }
}
