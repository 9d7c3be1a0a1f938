import ArgumentParser
import Foundation
import TidemarkExport
import TidemarkSystem

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

    /// Imports what was asked for, before anybody is served. Says where an import before was killed.
    ///
    /// - Parameter directory: The folder of the data; nil for memory.
    func begin(_ whole: WholeExport, in directory: String?) async throws {
        let mark = directory.map { ImportMark(directory: $0) }
        if let place = mark?.place {
            Self.say(
                """
                an import of \(place) was ended before it was whole, and a part of it is here. Run it \
                again, or begin with another folder than \(directory ?? "")
                """)
        }
        guard let seed else { return }
        mark?.set(seed)
        do throws(ExportError) {
            try await whole.bringIn(seed, project: importProject, say: Self.say)
        } catch {
            // Only then has something been written.
            if case .refused = error {} else { mark?.remove() }
            throw CleanExit.message("tidemark serve: \(error.message)").asFailure
        }
        mark?.remove()
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

/// A file beside the data that is there while an import writes to it. What a killed import leaves looks
/// like data of its own otherwise.
struct ImportMark {
    private let file: DurableFile

    init(directory: String) { file = DurableFile(path: directory + "/import-unfinished") }

    /// What was being imported; nil where no import was ended early.
    var place: String? {
        ((try? file.read()) ?? nil).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Without a file the import goes on all the same.
    func set(_ place: String) { try? file.write(Array(place.utf8)) }
    func remove() { try? file.write(nil) }
}

extension Result where Failure == any Error, Success: Sendable {
    /// What came of `body`.
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
