import ArgumentParser
import Foundation
import TidemarkExport

/// What a server begins with, and what it leaves at its end.
struct ExportOptions: ParsableArguments {
    @Option(
        name: [.customLong("import"), .customLong("seed_from_export")],
        help: ArgumentHelp(
            """
            An export to begin with: a folder that firebase emulators:export, gcloud or tidemark export \
            made, its file that ends with .overall_export_metadata, or a .jsonl file of tidemark export.
            """, valueName: "folder"))
    var seed: String?

    @Option(
        help: ArgumentHelp(
            "The project that the imported documents go to; the one they were exported from when not given.",
            valueName: "project"))
    var importProject: String?

    @Option(
        help: ArgumentHelp(
            "A folder to write everything to when the server ends, accounts too, in the same form.",
            valueName: "folder"))
    var exportOnExit: String?

    /// Imports what was asked for, before anybody is served.
    func begin(_ whole: WholeExport) async throws {
        guard let seed else { return }
        do throws(ExportError) {
            try await whole.bringIn(seed, project: importProject, say: Self.say)
        } catch { throw CleanExit.message("tidemark serve: \(error.message)").asFailure }
    }

    /// Exports what was asked for, when nobody is served any more.
    func end(_ whole: WholeExport) async throws {
        guard let exportOnExit else { return }
        do throws(ExportError) {
            let counts = try await whole.write(to: exportOnExit)
            Self.say(
                """
                exported \(counts.documents) documents and \(counts.accounts) accounts to \
                \(exportOnExit)
                """)
        } catch { throw CleanExit.message("tidemark serve: \(error.message)").asFailure }
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
