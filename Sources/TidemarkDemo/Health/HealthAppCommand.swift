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
    @Option(help: "Days that are sent at a time.") var daysPerPart = 30
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let store = try HealthStore(path: place.folder + HealthApp.storeFile)
        switch side {
        case .before: try await HealthBefore(store).run(export)
        case .after:
            let client = try await DeviceClient(.after, place.place, label: place.label)
            let after = HealthAfter(
                firestore: client.firestore, store: store, collection: collection,
                daysPerPart: daysPerPart)
            try await after.run(export)
            await client.close()
        }
    }
}

/// To the demo, which listens.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
