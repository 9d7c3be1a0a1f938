import ArgumentParser
import Foundation
import TidemarkExport
import TidemarkModel

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export a database to a folder, in the format of firebase emulators:export.",
        discussion: """
            Exports the database as it is at one point in time, even while others write. \
            Replaces a folder that holds an export once the new export is complete; never \
            replaces a folder that holds anything else. The same documents always give the same \
            bytes. Each document is billed as one read. A file name that ends with .jsonl gets \
            JSON lines instead, which people can read: {"database":"projects/P/databases/D"}, \
            then one line per document, as in \
            {"fields":{"seats":{"integerValue":"12"}},"path":"rooms/blue"}, and last \
            {"documents":N}. This command exports no accounts; serve --export-on-exit and \
            firebase emulators:export do.
            """)

    @Argument(help: "The folder, or a file whose name ends with .jsonl.", completion: .directory)
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
        abstract: "Import an export of firebase emulators:export, gcloud or tidemark export.",
        discussion: """
            Checks the whole export before it writes the first document. Replaces documents of \
            the same name and keeps all others.
            """)

    @Argument(
        help: "The export's folder, its .overall_export_metadata file, or a .jsonl file.",
        completion: .file(extensions: ["overall_export_metadata", "jsonl"]))
    var export: String

    @OptionGroup var server: PlainServerOptions

    @Option(
        help: "The project to import into. (default: the project of the export)")
    var project: String?

    @Option(help: "Only import this database. (default: any)")
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
