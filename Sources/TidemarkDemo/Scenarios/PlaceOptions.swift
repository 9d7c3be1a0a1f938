import ArgumentParser
import Foundation

/// The server and the device of an app that runs in a separate process.
struct PlaceOptions: ParsableArguments {
    @Option(help: "Firestore port.") var port: Int
    @Option(help: "Auth port.") var accountsPort: Int
    @Option(help: "uid of the signed-in user.") var user: String
    @Option(help: "The label under which the server counts its reads.") var label: String
    @Option(help: "Data folder of the app.") var folder: String

    var place: DemoPlace {
        DemoPlace(
            port: port, accounts: accountsPort, folder: URL(fileURLWithPath: folder), user: user)
    }

    /// Returns the arguments for the app's process.
    static func arguments(_ visit: Visit) -> [String] {
        let place = visit.place
        return [
            "--port", "\(place.port)", "--accounts-port", "\(place.accounts)",
            "--user", place.user, "--label", visit.label, "--folder", place.folder.path,
        ]
    }
}
