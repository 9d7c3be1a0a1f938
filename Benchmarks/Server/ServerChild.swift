import Foundation

/// A server in a separate process, as users run it.
final class ServerChild {
    let port: Int
    private let process = Process()

    /// - Parameter program: A program that prints `ready HOST:PORT` and ends on SIGTERM.
    /// - Throws: An error if the program does not report that it is ready.
    init(_ program: URL, _ arguments: [String]) throws {
        process.executableURL = program
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch {
            throw ServerChildError(program: program.path, reason: "cannot be started")
        }
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard line.hasPrefix("ready "), let last = line.split(separator: ":").last,
            let port = Int(last.trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw ServerChildError(program: program.path, reason: "did not get ready") }
        self.port = port
    }

    /// Returns the control port of a `tidemark serve` that has written its ports to the file.
    static func controlPort(in file: String) throws -> Int {
        struct Ports: Decodable {
            let control: Int
        }
        let data = try Data(contentsOf: URL(filePath: file))
        return try JSONDecoder().decode(Ports.self, from: data).control
    }

    /// The resident memory in MiB; nil if `/proc` does not report it.
    var residentMiB: Double? { memory(in: "status", "VmRSS:") }

    /// The part of the resident memory that belongs to no file, in MiB.
    var anonymousMiB: Double? { memory(in: "status", "RssAnon:") }

    /// The used processor time in seconds; nil if `/proc` does not report it.
    var processorSeconds: Double? {
        let path = "/proc/\(process.processIdentifier)/stat"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            // The name before can contain any character. User and system time are the 14th and 15th
            // fields.
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 13,
            let user = Double(fields[11]), let system = Double(fields[12])
        else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private func memory(in file: String, _ key: String) -> Double? {
        let path = "/proc/\(process.processIdentifier)/\(file)"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        let number = line?.split(whereSeparator: { !$0.isNumber }).first
        return number.flatMap { Double($0) }.map { $0 / 1_024 }
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    static var thisProgram: URL {
        Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    }

    static var besideThisProgram: URL {
        thisProgram.deletingLastPathComponent().appending(path: "tidemark")
    }
}

struct ServerChildError: Error, CustomStringConvertible {
    let program: String
    let reason: String

    var description: String {
        "\(program) \(reason): build it with `swift build -c release --product tidemark`."
    }
}
