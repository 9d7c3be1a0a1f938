import ArgumentParser
import Foundation
import Synchronization
import TidemarkReads
import UnixSignals

/// Runs Firebase's tools with this program as Firestore's emulator.
///
/// The tools start the emulator as `java -jar FILE …`. The first `java` in the command's PATH is
/// this program: see ``JavaStandIn``.
struct ExecCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run Firebase's tools with this server as their Firestore emulator.",
        discussion: """
            As in: tidemark exec -- firebase emulators:start. No Java is needed for Firestore. The \
            tools read firebase.json and show their pages as always; the other emulators are \
            theirs. Prints the address of the console. Exits with the command's code, or with 128 \
            and the number of the signal that ended it.
            """)

    @Option(
        name: .customLong("serve"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            An option of 'tidemark serve' for the server, in one word, as in \
            --serve=--index-policy=strict. Repeatable. The default is --memory, and that a query \
            without an index is reported and runs.
            """, valueName: "option"))
    var options: [String] = []

    @Argument(
        parsing: .postTerminator,
        help: "The command, after two hyphens, as in: -- firebase emulators:exec 'npm test'")
    var command: [String] = []

    func validate() throws {
        if command.isEmpty {
            throw ValidationError(
                """
                Give the command after two hyphens, as in: tidemark exec -- firebase \
                emulators:start
                """)
        }
        do { _ = try ServeCommand.parse(options) } catch {
            throw ValidationError(ServeCommand.message(for: error))
        }
    }

    func run() async throws {
        let folder = try StandInFolder.make(options: options)
        defer { folder.remove() }
        let console = ConsoleLine(folder)
        // Signals are caught before the command runs. Otherwise one could end this process alone.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let child: ChildCommand
        do throws(ChildCommand.NotStarted) {
            child = try ChildCommand(
                command,
                environment: folder.environment(ProcessInfo.processInfo.environment))
        } catch { throw failure(error.ending) ?? ExitCode.failure }
        let ending = await withTaskGroup(of: SuiteEnding?.self) { group in
            group.addTask {
                for await signal in signals { child.pass(on: signal.rawValue) }
                return nil
            }
            group.addTask {
                await console.announce()
                return nil
            }
            group.addTask { await child.ended() }
            defer { group.cancelAll() }
            for await ending in group {
                if let ending { return ending }
            }
            return SuiteEnding.exited(0)
        }
        console.look()
        if let failure = failure(ending) {
            folder.remove()
            throw failure
        }
    }

    /// Returns the exit code of a command that failed, after a sentence on standard error if the
    /// command could not say it; nil after success.
    private func failure(_ ending: SuiteEnding) -> (any Error)? {
        switch ending {
        case .exited(0): return nil
        case .exited(let code): return ExitCode(code)
        case .killed(let signal): return ExitCode(128 + signal)
        case .notFound:
            Self.say("There is no command '\(command[0])'. Check its name and PATH.")
            return ExitCode(127)
        case .notStarted(let reason):
            Self.say("The command '\(command[0])' cannot be started: \(reason).")
            return ExitCode(126)
        }
    }

    fileprivate static func say(_ sentence: String) {
        FileHandle.standardError.write(Data("tidemark exec: \(sentence)\n".utf8))
    }
}

/// Prints the address of the console, once for each server that writes its ports.
private final class ConsoleLine: Sendable {
    private let folder: StandInFolder
    private let known = Mutex<String?>(nil)

    init(_ folder: StandInFolder) { self.folder = folder }

    /// Looks for the ports five times a second, until the task is cancelled.
    func announce() async {
        while !Task.isCancelled {
            look()
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    func look() {
        guard let ports = folder.ports else { return }
        let isNew = known.withLock { known in
            defer { known = ports }
            return known != ports
        }
        if isNew { ExecCommand.say("Firestore is Tidemark's. The console: \(ports)") }
    }
}

/// The temporary folder that is first in the command's PATH: a `java` that is this program, and the
/// file that the tools take for the emulator.
struct StandInFolder: Sendable {
    /// The variable with the folder, for the stand-in.
    static let variable = "TIDEMARK_EXEC_FOLDER"

    let path: String

    init(_ path: String) { self.path = path }

    /// - Parameter options: The options of `tidemark serve` for the stand-in.
    static func make(options: [String]) throws -> StandInFolder {
        let folder = StandInFolder(
            FileManager.default.temporaryDirectory
                .appendingPathComponent("tidemark-exec-\(UUID().uuidString)").path)
        do {
            try FileManager.default.createDirectory(
                atPath: folder.path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/java", withDestinationPath: ThisProgram.path)
            try Data().write(to: URL(fileURLWithPath: folder.emulator))
            try JSONEncoder().encode(options).write(to: URL(fileURLWithPath: folder.optionsFile))
        } catch {
            folder.remove()
            throw CleanExit.message("tidemark exec: \(folder.path) cannot be made.").asFailure
        }
        return folder
    }

    /// The file that the tools take for the emulator's program.
    var emulator: String { path + "/cloud-firestore-emulator-tidemark.jar" }
    var portsFile: String { path + "/ports.json" }
    private var optionsFile: String { path + "/options.json" }

    /// The options of `tidemark serve`; none if the file cannot be read.
    var options: [String] {
        let data = FileManager.default.contents(atPath: optionsFile) ?? Data()
        return (try? JSONDecoder().decode([String].self, from: data)) ?? []
    }

    /// The address of the console; nil while no server is ready.
    var ports: String? {
        struct Ports: Decodable { let control: Int }
        guard let data = FileManager.default.contents(atPath: portsFile),
            let ports = try? JSONDecoder().decode(Ports.self, from: data)
        else { return nil }
        return "http://127.0.0.1:\(ports.control)"
    }

    /// Returns the variables of the command.
    func environment(_ inherited: [String: String]) -> [String: String] {
        var variables = inherited
        variables["PATH"] = path + ":" + (inherited["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
        // The tools take the file without a download, and without a look at its checksum.
        variables["FIRESTORE_EMULATOR_BINARY_PATH"] = emulator
        variables[Self.variable] = path
        return variables
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// The program of this process.
enum ThisProgram {
    /// The path of the program's file, without symbolic links.
    static var path: String {
        let name = Bundle.main.executablePath ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: name).resolvingSymlinksInPath().path
    }
}
