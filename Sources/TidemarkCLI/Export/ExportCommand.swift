import ArgumentParser
import Foundation
import TidemarkExport
import TidemarkModel

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a database into a folder, in the form of firebase emulators:export.",
        discussion: """
            The export is of one time, also while others write. A folder that holds an export is replaced \
            once the new one is whole; one that holds anything else is not. The same documents make the \
            same bytes. Each document is billed as one read.

            A file whose name ends with .jsonl gets JSON lines instead, for people and reviews: \
            {"database":"projects/P/databases/D"}, then a document a line as in \
            {"fields":{"seats":{"integerValue":"12"}},"path":"rooms/blue"}, and last {"documents":N}.

            Accounts are in the exports of serve --export-on-exit and of firebase emulators:export.
            """)

    @Argument(help: "The folder, or a file that ends with .jsonl.", completion: .directory)
    var folder: String

    @OptionGroup var server: PlainServerOptions

    @Option(help: "The project.")
    var project = "demo"

    @Option(help: "The database of the project.")
    var database = "(default)"

    func run() async throws {
        let database = try DatabaseID(project: project, database: database)
        try await server.withTransport(database) { transport, context in
            do throws(ExportError) {
                let exporter = Exporter(transport, context)
                let results =
                    LinesForm.isFile(folder)
                    ? [try await exporter.run(database, toLines: folder)]
                    : try await exporter.run([database], to: folder)
                for result in results {
                    print("\(result.documents) documents of \(result.database.name) in \(folder)")
                }
            } catch { throw CleanExit.message("tidemark export: \(error.message)").asFailure }
        }
    }
}

struct FirestoreImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "firestore",
        abstract: "Import what firebase emulators:export, gcloud or tidemark export made.",
        discussion: """
            Everything is checked before the first document is written. Documents that are there stay; \
            those of the same name are replaced.
            """)

    @Argument(
        help: "The folder, its file that ends with .overall_export_metadata, or a .jsonl file.",
        completion: .file(extensions: ["overall_export_metadata", "jsonl"]))
    var export: String

    @OptionGroup var server: PlainServerOptions

    @Option(
        help: "Where the documents go; the project that they were exported from when not given.")
    var project: String?

    @Option(help: "The database that they have to be of; any when not given.")
    var database: String?

    func run() async throws {
        let any = try DatabaseID(project: project ?? "demo", database: database ?? "(default)")
        try await server.withTransport(any) { transport, context in
            do throws(ExportError) {
                let results = try await Importer(transport, context).run(
                    try ExportSource(export), project: project, database: database)
                for result in results {
                    print("\(result.documents) documents in \(result.database.name)")
                }
            } catch { throw CleanExit.message("tidemark import: \(error.message)").asFailure }
        }
    }
}
