import ArgumentParser
import Foundation
import TidemarkConsole
import TidemarkExport
import TidemarkSystem

/// The options for the data at a server's start, for the functions that hear of later changes, and
/// for the export at the end.
struct ExportOptions: ParsableArguments {
    @Option(
        name: [.customLong("import"), .customLong("seed_from_export")],
        help: ArgumentHelp(
            """
            Import this export at the start: a folder of firebase emulators:export, gcloud or \
            tidemark export, its .overall_export_metadata file, or a .jsonl file of tidemark \
            export.
            """, valueName: "folder"))
    var seed: String?

    @Option(
        help: ArgumentHelp(
            "The project to import into. (default: the project of the export)",
            valueName: "project"))
    var importProject: String?

    @Option(
        help: ArgumentHelp(
            "Export documents and accounts to this folder on exit.",
            valueName: "folder"))
    var exportOnExit: String?

    @OptionGroup var eventOptions: EventOptions

    /// Imports the chosen export before the server accepts calls, and then begins to deliver
    /// events. Prints a warning if an earlier import was killed.
    ///
    /// - Parameters:
    ///   - directory: The data folder; nil for a server in memory.
    ///   - deliveries: Records the deliveries.
    func begin(
        _ whole: WholeExport, in directory: String?, _ deliveries: RecordedDeliveries
    ) async throws {
        let mark = directory.map { ImportMark(directory: $0) }
        if let place = mark?.place {
            Self.say(
                """
                an import of \(place) ended early, and only a part of it is here. Run it again, \
                or use another folder than \(directory ?? "")
                """)
        }
        guard let seed else { return try eventOptions.start(whole.server, deliveries) }
        mark?.set(seed)
        do throws(ExportError) {
            try await whole.bringIn(seed, project: importProject, say: Self.say)
        } catch {
            // Only `refused` can follow a write of documents, so the mark stays after it.
            if case .refused = error {} else { mark?.remove() }
            throw CleanExit.message("tidemark serve: \(error.message)").asFailure
        }
        mark?.remove()
        try eventOptions.start(whole.server, deliveries)
    }

    /// Exports to the chosen folder after the server has stopped.
    func end(_ whole: WholeExport) async throws {
        guard let exportOnExit else { return }
        do throws(ExportError) {
            let counts = try await whole.write(to: exportOnExit)
            Self.say(
                """
                exported \(counts.documents) documents\(counts.objects.map { ", \($0) files" } ?? "") \
                and \(counts.accounts) accounts to \(exportOnExit)
                """)
        } catch { throw CleanExit.message("tidemark serve: \(error.message)").asFailure }
    }

    private static func say(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}

/// A file beside the data that exists while an import writes. Without this file, the partial data
/// of a killed import would look complete.
struct ImportMark {
    private let file: DurableFile

    init(directory: String) { file = DurableFile(path: directory + "/import-unfinished") }

    /// The source of the unfinished import; nil if there is none.
    var place: String? {
        ((try? file.read()) ?? nil).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes the file. If this fails, the import continues without the file.
    func set(_ place: String) { try? file.write(Array(place.utf8)) }
    func remove() { try? file.write(nil) }
}

extension Result where Failure == any Error, Success: Sendable {
    /// Runs `body` and stores its value or its error.
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
