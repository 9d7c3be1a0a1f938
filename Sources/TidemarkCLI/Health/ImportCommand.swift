import ArgumentParser
import Foundation
import Synchronization
import TidemarkHealth

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import data.",
        subcommands: [HealthImportCommand.self, FirestoreImportCommand.self])
}

struct HealthImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Import an Apple Health export: export.xml, or the zip that contains it.",
        discussion: "Importing the same export again, or a later one, adds only new data.")

    @Argument(help: "The export's file.", completion: .file(extensions: ["xml", "zip"]))
    var file: String

    @OptionGroup var store: HealthStoreOptions

    @Option(help: "The preferred source if several sources counted the same steps. Repeatable.")
    var source: [String] = []

    @Flag(help: "Print the result as JSON, without progress.")
    var json = false

    func run() async throws {
        let store = try store.open()
        let clock = ContinuousClock()
        let start = clock.now
        let line = ImportLine(isShown: !json && isatty(STDERR_FILENO) == 1)
        let importing = HealthImport(into: store, priority: SourcePriority(first: source))
        defer { line.end() }
        let report: HealthImport.Report
        do {
            report = try await importing.run(file) { line.show($0) }
        } catch HealthExportError.allBad(let file, let counts) {
            line.end()
            var lines = [HealthExportError.allBad(file: file, counts: counts).message]
            lines += Self.lines(ofBad: counts)
            throw ValidationError(lines.joined(separator: "\n"))
        }
        line.end()
        let seconds = (clock.now - start) / .seconds(1)
        if json {
            try printJSON(report, seconds: seconds)
        } else {
            print(try Self.text(report, store: store, seconds: seconds))
        }
        // There are either no records, or only records of kinds that are not stored.
        if report.counts.samples == 0 { throw ExitCode.failure }
    }

    private static func text(
        _ report: HealthImport.Report, store: HealthStore, seconds: Double
    ) throws -> String {
        let counts = report.counts
        let rate = Double(counts.bytes) / 1e6 / max(seconds, 0.001)
        var lines = [
            "\(counts.records) records in "
                + "\(seconds.formatted(.number.precision(.fractionLength(2)))) s, "
                + "\(Int(rate)) MB/s: \(report.added) new, \(report.known) known, "
                + "\(report.duplicates) duplicates, \(counts.ignored) of unsupported kinds, "
                + "\(counts.nested) nested in others."
        ]
        if let days = try store.read({ try $0.days() }) {
            lines.append("Stored: \(days.lowerBound) to \(days.upperBound).")
        }
        if counts.isCutOff {
            lines.append("The end of the file is missing. The rest was imported.")
        }
        if counts.samples == 0 {
            lines.append("Nothing was imported: the file has no record of a supported kind.")
        }
        if counts.bad > 0 {
            lines.append("\(counts.bad) records were skipped:")
            lines += Self.lines(ofBad: counts)
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(ofBad counts: ExportCounts) -> [String] {
        let lines = counts.badRecords.prefix(10).map { "  line \($0.line): \($0)" }
        return counts.bad > 10 ? lines + ["  and \(counts.bad - 10) more"] : lines
    }

    private func printJSON(_ report: HealthImport.Report, seconds: Double) throws {
        let counts = report.counts
        let result = ImportJSON(
            bytes: counts.bytes, records: counts.records, added: report.added, known: report.known,
            duplicates: report.duplicates, ignored: counts.ignored, nested: counts.nested,
            bad: counts.bad, isCutOff: counts.isCutOff, seconds: seconds,
            badRecords: counts.badRecords.map { .init(line: $0.line, reason: "\($0)") })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        print(String(decoding: try encoder.encode(result), as: UTF8.self))
    }
}

private struct ImportJSON: Encodable {
    struct Bad: Encodable {
        let line: Int
        let reason: String
    }

    let bytes: Int64
    let records, added, known, duplicates, ignored, nested, bad: Int
    let isCutOff: Bool
    let seconds: Double
    let badRecords: [Bad]
}

/// A progress line that is overwritten at most ten times a second.
private final class ImportLine: Sendable {
    private let isShown: Bool
    private let last = Mutex<(time: ContinuousClock.Instant, length: Int)?>(nil)

    init(isShown: Bool) { self.isShown = isShown }

    func show(_ progress: HealthImport.Progress) {
        guard isShown else { return }
        let now = ContinuousClock().now
        last.withLock { last in
            if let last, now - last.time < .milliseconds(100) { return }
            let text: String
            switch progress.phase {
            case .reading:
                let share = progress.bytesRead * 100 / max(1, progress.bytesTotal)
                text = "reading \(share) %, \(progress.samples) samples"
            case .storing(let kind): text = "storing \(kind.name)"
            }
            let padding = String(repeating: " ", count: max(0, (last?.length ?? 0) - text.count))
            FileHandle.standardError.write(Data("\r\(text)\(padding)".utf8))
            last = (now, text.count)
        }
    }

    func end() {
        guard isShown else { return }
        last.withLock { last in
            guard let length = last?.length else { return }
            let blank = String(repeating: " ", count: length)
            FileHandle.standardError.write(Data("\r\(blank)\r".utf8))
        }
    }
}
