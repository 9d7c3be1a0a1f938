import ArgumentParser
import Foundation
import TidemarkHealth

struct HealthStoreOptions: ParsableArguments {
    @Option(help: "The file that holds what was imported. Made when it is not there.")
    var store = "tidemark-health.sqlite"

    func open() throws -> HealthStore {
        try HealthStore(path: store)
    }

    /// Opens an existing store. A missing file is an error, because its path is probably mistyped.
    func existing() throws -> HealthStore {
        guard FileManager.default.fileExists(atPath: store) else {
            throw ValidationError(
                "There is no \(store): import an export first, with tidemark import health FILE.")
        }
        return try open()
    }
}
