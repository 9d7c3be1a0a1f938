import ArgumentParser
import Foundation
import Tidemark
import TidemarkHealth

/// The fitness app: what the demo kills.
struct HealthAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health-app", abstract: "Bring in an export until it is killed.",
        shouldDisplay: false)

    @Option var side: Side
    @Option var export: String
    @Option var collection: String
    @Option(help: "Who is signed in.") var user: String
    @Option var port: Int
    @Option var label: String
    @Option(help: "Days that are sent at a time.") var daysPerPart = 30
    @Option(help: "Of the cache, the queue and the health store.") var folder: String

    func run() async throws {
        let place = DemoPlace(port: port, folder: URL(fileURLWithPath: folder), user: user)
        let store = try HealthStore(path: folder + HealthApp.storeFile)
        switch side {
        case .before: try await HealthBefore(store).run(export)
        case .after:
            let firestore = try place.firestore(label: label)
            let after = HealthAfter(
                firestore: firestore, store: store, collection: collection,
                daysPerPart: daysPerPart)
            try await after.run(export)
            await firestore.terminate()
        }
    }
}

/// To the demo, which listens.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
