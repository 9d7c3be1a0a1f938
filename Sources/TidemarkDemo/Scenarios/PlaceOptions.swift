import ArgumentParser
import Foundation

/// Where an app that runs in a process of its own finds its server and its device.
struct PlaceOptions: ParsableArguments {
    @Option(help: "Of Firestore.") var port: Int
    @Option(help: "Of accounts.") var accountsPort: Int
    @Option(help: "Who is signed in.") var user: String
    @Option(help: "Under which the server counts its reads.") var label: String
    @Option(help: "Of the app alone.") var folder: String

    var place: DemoPlace {
        DemoPlace(
            port: port, accounts: accountsPort, folder: URL(fileURLWithPath: folder), user: user)
    }

    /// As the process that starts it writes them.
    static func arguments(_ visit: Visit) -> [String] {
        let place = visit.place
        return [
            "--port", "\(place.port)", "--accounts-port", "\(place.accounts)",
            "--user", place.user, "--label", visit.label, "--folder", place.folder.path,
        ]
    }
}
