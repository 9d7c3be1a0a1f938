import AsyncHTTPClient
import Dispatch
import ExampleKit
import Foundation
import NIOCore
import NIOHTTP1
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

/// A `tidemark serve` of its own, as a child process, with its data in a folder of its own.
final class ServerProcess: Sendable {
    /// For clients; behind the gate where there is one.
    let port: Int
    /// For what is no client: never behind the gate.
    let directPort: Int
    /// Of its accounts, past the gate.
    let accountsPort: Int
    private let controlPort: Int
    private let process: Process
    /// The child ends when this process does, however that ends: it is in no group of the terminal's.
    private let input = Pipe()

    /// - Parameters:
    ///   - rules: What clients may do; nil for everything.
    ///   - options: Of `tidemark serve`, beside the ports, the folder and the rules.
    /// - Throws: When the child does not say that it is ready.
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
        process.executableURL = Bundle.main.executableURL
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
        // The line comes after the file is written; the end of the pipe means the child is gone.
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

    /// Moves the server's clock.
    func setClock(secondsSince1970 seconds: Int64) async throws {
        _ = try await send("{\"time\": \(seconds * 1_000_000)}", .POST, to: "clock")
    }

    /// What was billed so far, by label.
    func meter() async throws -> [String: MeterRow] {
        let data = try await send(nil, .GET, to: "meter")
        let rows = try JSONDecoder().decode([MeterRow].self, from: data)
        return Dictionary(rows.map { ($0.label, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// What was billed under a label so far: for documents, and for what security rules have read.
    func reads(of label: String) async throws -> (documents: Int, rules: Int) {
        let bill = try await bill(of: label)
        return (bill.documents, bill.rules)
    }

    /// What was billed under a label so far, by target and method.
    func bill(of label: String) async throws -> Bill {
        let data = try await send(nil, .GET, to: "meter?by=label,target,method")
        let all = try JSONDecoder().decode([MeterDetail].self, from: data)
        return Bill(all.filter { $0.label == label })
    }

    /// Plays a network for all clients, and lets go wrong what the rules say; both in the place of
    /// what was ordered before.
    func order(_ network: NetworkProfile, rules: [String] = []) async throws {
        let order = Faults.Order(network: network.rawValue, rules: rules)
        let body = String(decoding: try JSONEncoder().encode(order), as: UTF8.self)
        _ = try await send(body, .PUT, to: "faults")
    }

    /// How often each rule of the last order has applied, in its order.
    func faultsApplied() async throws -> [Int] {
        let data = try await send(nil, .GET, to: "faults")
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

    /// The child has the token from the environment, as this process has.
    private func send(_ body: String?, _ method: HTTPMethod, to name: String) async throws -> Data {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(controlPort)/tidemark/v1/\(name)")
        request.method = method
        if let token = TokenVariable.value {
            request.headers.add(name: "authorization", value: "Bearer \(token)")
        }
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
        guard response.status == .ok else { throw ServerProcessError.refused(response.status.code) }
        return Data(try await response.body.collect(upTo: 1_048_576).readableBytesView)
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    deinit { if process.isRunning { process.terminate() } }
}

extension Pipe {
    /// What is written next; nothing when the writer is gone. Waits on a thread of its own.
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
    case refused(UInt)

    var description: String {
        switch self {
        case .didNotStart: "The local server did not start."
        case .refused(let status): "The local server answered with HTTP status \(status)."
        }
    }
}
