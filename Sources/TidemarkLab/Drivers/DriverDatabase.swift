import ArgumentParser
import Tidemark

/// The database of a driver, on the server that FIRESTORE_EMULATOR_HOST names.
struct DriverDatabase: ParsableArguments {
    @Option(help: "The project.") var project = "demo"

    func firestore(
        cache folder: String, onBusyCache: FirestoreSettings.BusyCache = .fail, label: String
    ) throws -> Firestore {
        try Firestore(
            projectID: project,
            settings: FirestoreSettings(
                cache: .directory(folder), label: label, onBusyCache: onBusyCache))
    }
}
