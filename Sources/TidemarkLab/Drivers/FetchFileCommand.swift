import ArgumentParser
import Foundation
import Tidemark
import TidemarkFiles

/// Downloads an object to a file. A test compares the file, and the memory that this takes.
struct FetchFileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch-file", abstract: "Download an object.", shouldDisplay: false)

    @Option(help: "HOST:PORT of Storage.") var storage: String
    @Option(help: "The bucket.") var bucket: String
    @Option(help: "The name of the object.") var name: String
    @Option(help: "The path of the file.") var to: String
    @OptionGroup var database: DriverDatabase

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-fetch-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let firestore = try database.firestore(cache: folder.path, label: "files")
        var settings = FileSettings(bucket: bucket)
        settings.address = "http://\(storage)"
        let object = Storage(firestore, settings).reference(withPath: name)
        try await object.writeAsync(toFile: URL(fileURLWithPath: to))
        await firestore.terminate()
        print("fetched")
    }
}
