import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TidemarkModel
import TidemarkServer

/// A `tidemark serve` of its own, as a child process, with its data in a folder of its own.
final class ServerProcess {
    let port: Int
    private let controlPort: Int
    private let process: Process

    /// - Throws: When the child does not say that it is ready.
    init(data: URL) throws {
        let portsFile = data.appendingPathComponent("ports.json")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [
            "serve", "--port", "0", "--data", data.path, "--ports-file", portsFile.path,
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // The line comes after the file is written; the end of the pipe means the child is gone.
        let line = output.fileHandleForReading.availableData
        guard line.starts(with: Data("ready ".utf8)) else { throw ServerProcessError.didNotStart }
        let ports = try JSONDecoder().decode(Ports.self, from: Data(contentsOf: portsFile))
        port = ports.firestore
        controlPort = ports.control
    }

    private struct Ports: Decodable {
        let firestore: Int
        let control: Int
    }

    /// Moves the server's clock.
    func setClock(secondsSince1970 seconds: Int64) async throws {
        var request = request("clock")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: "{\"time\": \(seconds * 1_000_000)}"))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(5))
        guard response.status == .ok else { throw ServerProcessError.refused(response.status.code) }
        _ = try await response.body.collect(upTo: 65_536)
    }

    /// What was billed so far, by label.
    func meter() async throws -> [String: MeterRow] {
        let response = try await HTTPClient.shared.execute(
            request("meter"), timeout: .seconds(5))
        guard response.status == .ok else { throw ServerProcessError.refused(response.status.code) }
        let body = try await response.body.collect(upTo: 1_048_576)
        let rows = try JSONDecoder().decode([MeterRow].self, from: Data(body.readableBytesView))
        return Dictionary(rows.map { ($0.label, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// The child has the token from the environment, as this process has.
    private func request(_ name: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(controlPort)/tidemark/v1/\(name)")
        if let token = TokenVariable.value {
            request.headers.add(name: "authorization", value: "Bearer \(token)")
        }
        return request
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
