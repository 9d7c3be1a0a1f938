import Dispatch
import ExampleKit
import Foundation
import TidemarkHTTP
import TidemarkHTTPClient
import TidemarkModel
import TidemarkResilience
import TidemarkServer

/// A `tidemark serve` in a child process, with a separate data folder.
final class ServerProcess: Sendable {
    /// The port for clients; it is behind the gate if there is one.
    let port: Int
    /// The port for calls of the demo itself; it is never behind the gate.
    let directPort: Int
    /// The port of the accounts; it is not behind the gate.
    let accountsPort: Int
    private let controlPort: Int
    private let process: Process
    /// The child's standard input. When this process ends in any way, the pipe closes and the child
    /// ends too. The terminal does not end the child, because it is in another process group.
    private let input = Pipe()

    /// The program `tidemark`, which is built beside this one.
    private static var program: URL {
        get throws {
            let program = Bundle.main.executableURL?.deletingLastPathComponent()
                .appendingPathComponent("tidemark")
            guard let program, FileManager.default.isExecutableFile(atPath: program.path) else {
                throw ServerProcessError.noProgram
            }
            return program
        }
    }

    /// - Parameters:
    ///   - rules: The clients' rules; nil to allow everything.
    ///   - options: More options of `tidemark serve`, besides the ports, the folder and the rules.
    /// - Throws: An error if the child does not report that it is ready.
    init(data: URL, rules: ExampleRules? = nil, options: [String] = []) async throws {
        let portsFile = data.appendingPathComponent("ports.json")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        var options = options
        if let rules {
            let file = data.appendingPathComponent("firestore.rules")
            try Data(rules.text.utf8).write(to: file)
            options += ["--rules", file.path]
        }
        process = Process()
        process.executableURL = try Self.program
        process.arguments =
            [
                "serve", "--port", "0", "--accounts-port", "0", "--data", data.path, "--ports-file",
                portsFile.path, "--until-input-ends",
            ] + options
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // The child prints the line after it has written the file. The pipe ends without a line if
        // the child has ended.
        let line = await output.nextData()
        guard line.starts(with: Data("ready ".utf8)) else { throw ServerProcessError.didNotStart }
        let ports = try JSONDecoder().decode(Ports.self, from: Data(contentsOf: portsFile))
        port = ports.firestore
        directPort = ports.direct ?? ports.firestore
        controlPort = ports.control
        accountsPort = ports.accounts
    }

    private struct Ports: Decodable {
        let firestore: Int
        let control: Int
        let accounts: Int
        let direct: Int?
    }

    func setClock(secondsSince1970 seconds: Int64) async throws {
        _ = try await send("{\"time\": \(seconds * 1_000_000)}", "POST", to: "clock")
    }

    /// Returns the bill so far, by label.
    func meter() async throws -> [String: MeterRow] {
        let data = try await send(nil, "GET", to: "meter")
        let rows = try JSONDecoder().decode([MeterRow].self, from: data)
        return Dictionary(rows.map { ($0.label, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the reads billed under a label so far: those of documents, and those of security
    /// rules.
    func reads(of label: String) async throws -> (documents: Int, rules: Int) {
        let bill = try await bill(of: label)
        return (bill.documents, bill.rules)
    }

    /// Returns the bill of a label so far, by target and method.
    func bill(of label: String) async throws -> Bill {
        let data = try await send(nil, "GET", to: "meter?by=label,target,method")
        let all = try JSONDecoder().decode([MeterDetail].self, from: data)
        return Bill(all.filter { $0.label == label })
    }

    /// Sets the network of all clients and the fault rules. Both replace those of the last order.
    func order(_ network: NetworkProfile, rules: [String] = []) async throws {
        let order = Faults.Order(network: network.rawValue, rules: rules)
        let body = String(decoding: try JSONEncoder().encode(order), as: UTF8.self)
        _ = try await send(body, "PUT", to: "faults")
    }

    /// Returns the number of times that each rule of the last order has applied, in its order.
    func faultsApplied() async throws -> [Int] {
        let data = try await send(nil, "GET", to: "faults")
        return try JSONDecoder().decode(Faults.self, from: data).rules.map(\.applied)
    }

    private struct Faults: Decodable {
        struct Order: Encodable {
            let network: String
            let rules: [String]
        }

        struct Rule: Decodable {
            let applied: Int
        }

        let rules: [Rule]
    }

    private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(10))

    /// Sends a request with the token from the environment, which the child also has.
    private func send(_ body: String?, _ method: String, to name: String) async throws -> Data {
        var fields: [(name: String, value: String)] = []
        if let token = TokenVariable.value { fields.append(("authorization", "Bearer \(token)")) }
        if body != nil { fields.append(("content-type", "application/json")) }
        let request = HTTPRequest(
            method, "http://127.0.0.1:\(controlPort)/tidemark/v1/\(name)", fields: fields,
            body: body.map { [UInt8]($0.utf8) })
        let answer = try await withTimeout(.seconds(10)) {
            try await Self.session.answer(to: request, upTo: 1_048_576)
        }
        guard answer.status == 200 else {
            throw ServerProcessError.refused(
                answer.status, String(decoding: answer.body.prefix(500), as: UTF8.self))
        }
        return Data(answer.body)
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    deinit { if process.isRunning { process.terminate() } }
}

extension Pipe {
    /// Returns the next written data; empty if the writer has ended. Waits on a separate thread.
    fileprivate func nextData() async -> Data {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "tidemark.demo.server").async {
                continuation.resume(returning: self.fileHandleForReading.availableData)
            }
        }
    }
}

enum ServerProcessError: Error, CustomStringConvertible {
    case didNotStart
    case noProgram
    case refused(Int, String)

    var description: String {
        switch self {
        case .didNotStart: "The local server did not start."
        case .noProgram:
            """
            The program tidemark is missing beside this one: build it with `swift build --product \
            tidemark`.
            """
        case .refused(let status, let answer):
            "The local server answered with HTTP status \(status): \(answer)"
        }
    }
}
