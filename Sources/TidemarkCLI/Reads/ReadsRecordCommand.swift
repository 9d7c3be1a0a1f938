import ArgumentParser
import Foundation
import TidemarkModel
import TidemarkReads

struct ReadsRecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Run a test suite, and write its billed reads to a file.",
        discussion: """
            With --runs, runs the suite several times, and writes a range and its reason for each \
            line that varies. A reason that you write into the file stays. Nothing is written if \
            a run fails. \(ReadsCommand.exitCodes)
            """)

    @OptionGroup var suite: SuiteOptions

    @Option(help: "The number of runs, from 1 to 100.")
    var runs = 1

    func validate() throws {
        if !(1...100).contains(runs) { throw ValidationError("--runs must be between 1 and 100.") }
    }

    func run() async throws {
        let former = try suite.readFile()
        var seen: [[RunLine]] = []
        var edition = DatabaseEdition.standard
        for _ in 0..<runs {
            let run = try await suite.run()
            seen.append(run.lines)
            edition = run.edition
        }
        let recording = ReadsRecording(seen, of: edition, former: former)
        let data = recording.file.data
        if recording.file.lines.count > ReadsFile.maxLines || data.count > ReadsFile.maxBytes {
            throw SuiteOptions.refusal(
                """
                The suite reads in \(recording.file.lines.count) different ways, which is more than \
                a file can hold. Give its calls fewer labels.
                """)
        }
        do {
            let place = URL(fileURLWithPath: suite.file)
            try data.write(to: place, options: .atomic)
        } catch {
            throw SuiteOptions.refusal("\(suite.file) cannot be written: \(error)")
        }
        SuiteOptions.say(recording.summary(of: suite.file, former: former))
    }
}
