import ArgumentParser
import Foundation
import TidemarkHealth

struct HealthStoreOptions: ParsableArguments {
    @Option(help: "The file of imported data. It is created if it does not exist.")
    var store = "tidemark-health.sqlite"

    func open() throws -> HealthStore {
        try HealthStore(path: store)
    }

    /// Opens an existing store. A missing file is an error, because its path is probably mistyped.
    func existing() throws -> HealthStore {
        guard FileManager.default.fileExists(atPath: store) else {
            throw ValidationError(
                """
                There is no file \(store): first import an export with tidemark import \
                health FILE.
                """)
        }
        return try open()
    }
}
