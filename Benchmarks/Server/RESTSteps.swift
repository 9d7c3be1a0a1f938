import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import TidemarkModel

/// Steps over REST, from this process to another's.
struct RESTSteps: Sendable {
    private let base: String

    init(_ child: ServerChild) { base = "http://127.0.0.1:\(child.port)" }

    /// The least a call over HTTP can be.
    func emptyCall() async throws -> Int { try await get("/") }

    func get(_ path: DocumentPath) async throws -> Int {
        let root = Workload.database.name + "/documents/"
        let name = root.replacing("(default)", with: "%28default%29") + path.text
        return try await get("/v1/" + name)
    }

    /// - Returns: How many bytes came.
    private func get(_ path: String) async throws -> Int {
        let request = HTTPClientRequest(url: base + path)
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        guard response.status == .ok else {
            throw RPCStatus(.unknown, "HTTP \(response.status.code) at \(path)")
        }
        return try await response.body.collect(upTo: 1 << 20).readableBytes
    }
}
