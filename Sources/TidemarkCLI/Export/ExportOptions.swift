import ArgumentParser
import Foundation
import TidemarkExport
import TidemarkModel
import TidemarkServer

/// What a server begins with, and what it leaves at its end.
struct ExportOptions: ParsableArguments {
    @Option(
        name: [.customLong("import"), .customLong("seed_from_export")],
        help: ArgumentHelp(
            """
            An export to begin with: a folder that firebase emulators:export, gcloud or tidemark export \
            made, or its file that ends with .overall_export_metadata.
            """, valueName: "folder"))
    var seed: String?

    @Option(
        help: ArgumentHelp(
            "The project that the imported documents go to; the one they were exported from when not given.",
            valueName: "project"))
    var importProject: String?

    @Option(
        help: ArgumentHelp(
            "A folder to write everything to when the server ends, in the same form.",
            valueName: "folder"))
    var exportOnExit: String?

    /// Imports what was asked for, before anybody is served.
    func begin(_ server: FirestoreServer) async throws {
        guard let seed else { return }
        let context = try Self.context(importProject ?? "demo")
        do throws(ExportError) {
            let results = try await Importer(server, context).run(
                try ExportSource(seed), project: importProject)
            for result in results {
                Self.say("imported \(result.documents) documents into \(result.database.name)")
            }
        } catch { throw CleanExit.message("tidemark serve: \(error.message)").asFailure }
    }

    /// Exports what was asked for, when nobody is served any more.
    func end(_ server: FirestoreServer) async throws {
        guard let exportOnExit else { return }
        // The default databases first: the official tools see the first one.
        let databases = server.databases().sorted {
            ($0.database == "(default)" ? 0 : 1) < ($1.database == "(default)" ? 0 : 1)
        }
        let context = try Self.context("demo")
        do throws(ExportError) {
            let results = try await Exporter(server, context).run(
                databases, to: exportOnExit)
            let count = results.map(\.documents).reduce(0, +)
            Self.say("exported \(count) documents to \(exportOnExit)")
        } catch { throw CleanExit.message("tidemark serve: \(error.message)").asFailure }
    }

    /// Billed to nobody, and asked of no rules.
    private static func context(_ project: String) throws -> CallContext {
        // Each call of an import or an export names a database of its own.
        var context = CallContext(
            database: try DatabaseID(project: project), label: "tidemark", token: "owner")
        context.isUnbilled = true
        return context
    }

    private static func say(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}

extension Result where Failure == any Error, Success: Sendable {
    /// What came of `body`.
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
