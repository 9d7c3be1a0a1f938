import ArgumentParser
import Foundation
import Tidemark
import TidemarkHealth

/// The fitness app, which the demo kills.
struct HealthAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health-app", abstract: "Import an export until killed.",
        shouldDisplay: false)

    @Option var side: Side
    @Option(help: "The file to import; none after a kill, when the app continues.")
    var export: String?
    @Option(help: "Number of days of samples in HealthKit, instead of a file.")
    var kit: Int?
    @Option(help: "Number of days sent together.") var daysPerPart = 30
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let file = export.map { URL(fileURLWithPath: $0) }
        switch side {
        case .before, .filtered:
            let store = try HealthStore(path: place.folder + HealthApp.storeFile)
            if let kit { return try await HealthBefore(store).run(ScriptedKit(days: kit)) }
            guard let file else { throw ValidationError("Start again, as the app before.") }
            try await HealthBefore(store).run(file.path)
        case .after:
            let client = try await DeviceClient(.after, place.place, label: place.label)
            if let kit {
                try await HealthKitAfter(
                    place.place, client.firestore, ScriptedKit(days: kit), daysPerPart: daysPerPart
                ).run()
            } else {
                let after = try await HealthAfter(
                    place.place, client.firestore, daysPerPart: daysPerPart)
                try await after.run(file)
            }
            await client.close()
        }
    }
}

/// Prints a line for the demo.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
