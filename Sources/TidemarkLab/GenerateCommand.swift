import ArgumentParser
import Foundation
import TidemarkHealth

struct GenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Generate test data.",
        subcommands: [HealthGenerateCommand.self])
}

struct HealthGenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Generate an Apple Health export of an imaginary person.",
        discussion: "The same days and seed give the same file. A day takes about 350 kB.")

    @Option(help: "The number of days, up to --end.")
    var days = 90

    @Option(help: "Random seed; the same seed gives the same file.")
    var seed: UInt64 = 1

    @Option(help: "The last day.")
    var end = "2026-05-10"

    @Option(name: .shortAndLong, help: "The file to write. (default: standard output)")
    var output: String?

    @Option(
        help: """
            Write the expected totals of each day to this file, in the format of `tidemark health \
            totals`.
            """)
    var truth: String?

    @Flag(help: "Damage one record in 2,000.")
    var damaged = false

    @Flag(help: "Write a file that XML parsers accept. The files of phones are not valid XML.")
    var valid = false

    @Flag(help: "Write a zip file, as the Health app does.")
    var zip = false

    func validate() throws {
        guard (1...40_000).contains(days) else {
            throw ValidationError("--days must be between 1 and 40000.")
        }
        guard HealthDay(end) != nil else {
            throw ValidationError("\(end) is not a day; write it as in 2026-05-10.")
        }
    }

    func run() throws {
        let generator = HealthGenerator(
            days: days, seed: seed, end: HealthDay(end)!, isDamaged: damaged, isValid: valid)
        let file = try open()
        let made: HealthTruth
        if zip {
            let writer = ZipWriter(entry: "apple_health_export/export.xml") {
                try file.write(contentsOf: $0)
            }
            made = try generator.generate { try writer.add($0) }
            try writer.finish()
        } else {
            made = try generator.generate { try file.write(contentsOf: $0) }
        }
        try file.close()
        if let truth { try write(made, to: truth) }
        let text =
            "\(made.records) records, \(made.bytes) bytes unpacked, "
            + "\(made.duplicates) duplicates, "
            + "\(made.late) late, \(made.bad) damaged\n"
        FileHandle.standardError.write(Data(text.utf8))
    }

    private func open() throws -> FileHandle {
        guard let output else { return .standardOutput }
        guard FileManager.default.createFile(atPath: output, contents: nil),
            let file = FileHandle(forWritingAtPath: output)
        else { throw ValidationError("\(output) cannot be written.") }
        return file
    }

    private func write(_ made: HealthTruth, to path: String) throws {
        var lines: [String] = []
        for kind in HealthKind.allCases {
            for (day, total) in (made.totals[kind] ?? [:]).sorted(by: { $0.key < $1.key }) {
                lines.append(
                    TotalLine.text(
                        kind, day, sum: total.sum, count: total.count, minimum: total.minimum,
                        maximum: total.maximum))
            }
        }
        try (lines.joined(separator: "\n") + "\n").write(
            toFile: path, atomically: true, encoding: .utf8)
    }
}
