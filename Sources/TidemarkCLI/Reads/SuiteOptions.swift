import ArgumentParser
import Foundation
import TidemarkModel
import TidemarkReads

/// The options of a suite: its command, the file with its reads, and its server.
struct SuiteOptions: ParsableArguments {
    @Argument(help: "The file with the recorded reads.")
    var file = "reads.json"

    @Argument(
        parsing: .postTerminator,
        help: "The command that runs the tests, after two hyphens, as in: -- pytest -q")
    var command: [String] = []

    @Option(
        help: """
            The project that the command gets in GCLOUD_PROJECT and GOOGLE_CLOUD_PROJECT. \
            (default: the project in the environment, or demo)
            """)
    var project: String?

    @Option(help: "The firebase.json file, as for 'tidemark serve'; none ignores such files.")
    var firebaseJson: String?

    @Option(help: "A firestore.rules file, as for 'tidemark serve'.")
    var rules: String?

    @Option(help: "A firestore.indexes.json file, as for 'tidemark serve'.")
    var indexes: String?

    @Option(help: "The handling of a missing index, as for 'tidemark serve': strict, warn or auto.")
    var indexPolicy: String?

    @Option(
        help: "The edition of all databases, as for 'tidemark serve': standard or enterprise.")
    var edition: String?

    @Option(
        name: .customLong("import"),
        help: ArgumentHelp("Import this export before each run.", valueName: "folder"))
    var seed: String?

    @Option(
        name: .customLong("billing"),
        help: ArgumentHelp(
            "An assumption of the bill, as for 'tidemark serve'. Repeatable.",
            valueName: "name=number"))
    var assumptions: [String] = []

    func validate() throws {
        if command.isEmpty {
            throw ValidationError(
                "Give the command after two hyphens, as in: tidemark reads check -- pytest -q")
        }
        _ = try serve()
    }

    /// Returns the command of the suite's server: in memory, on free ports.
    func serve() throws -> ServeCommand {
        var arguments = [
            "--memory", "--port", "0", "--control-port", "0", "--accounts-port", "0",
            "--requests-port", "0",
        ]
        func pass(_ name: String, _ value: String?) {
            if let value { arguments += [name + "=" + value] }
        }
        pass("--firebase-json", firebaseJson)
        pass("--rules", rules)
        pass("--indexes", indexes)
        pass("--index-policy", indexPolicy)
        pass("--edition", edition)
        pass("--import", seed)
        for assumption in assumptions { pass("--billing", assumption) }
        do { return try ServeCommand.parse(arguments) } catch {
            throw ValidationError(ServeCommand.message(for: error))
        }
    }

    /// Reads the file with the recorded reads.
    ///
    /// - Returns: The reads; nil if there is no such file.
    func readFile() throws -> ReadsFile? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Self.refusal("\(file) cannot be read.")
        }
        do throws(ReadsFileError) { return try ReadsFile(data, name: file) } catch {
            throw Self.refusal(error.message)
        }
    }

    /// Runs the command once against a new server.
    ///
    /// - Parameter file: The file that the run is compared with; nil if the run is recorded.
    /// - Throws: The exit code for a command that fails, or that reads nothing, and for a file of
    ///   another edition.
    func run(comparedWith file: ReadsFile? = nil) async throws -> SuiteRun.Outcome {
        let suite = SuiteRun(command: command, project: project, serve: try serve())
        let result: SuiteRun.Outcome
        do { result = try await suite.run(for: file?.edition) } catch let other
            as SuiteRun.OtherEdition
        {
            throw Self.refusal(
                """
                \(self.file) was recorded on a database of the \(Self.name(file?.edition)) \
                edition, and the suite's database is of the \(Self.name(other.edition)) edition, \
                which is billed otherwise. Record the reads of that edition in a file of their \
                own, or choose the edition with --edition.
                """)
        }
        if let fault = SuiteFault(result.ending, of: command[0], reads: result.lines) {
            throw Self.refusal(fault.sentence, code: fault.exitCode)
        }
        return result
    }

    private static func name(_ edition: DatabaseEdition?) -> String {
        edition == .enterprise ? "Enterprise" : "Standard"
    }

    /// Prints a sentence on standard error.
    ///
    /// - Returns: The error that ends the program with the code.
    static func refusal(
        _ sentence: String, code: Int32 = SuiteFault.notCompared
    ) -> any Error {
        say(sentence)
        return ExitCode(code)
    }

    static func say(_ sentence: String) {
        FileHandle.standardError.write(Data("tidemark reads: \(sentence)\n".utf8))
    }
}
