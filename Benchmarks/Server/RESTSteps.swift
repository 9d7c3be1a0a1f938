import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import TidemarkModel

/// The steps over REST, from this process to another.
struct RESTSteps: Sendable {
    private let base: String

    init(_ child: ServerChild) { base = "http://127.0.0.1:\(child.port)" }

    /// Makes the shortest possible call over HTTP.
    func emptyCall() async throws -> Int { try await get("/") }

    func get(_ path: DocumentPath) async throws -> Int {
        let root = Workload.database.name + "/documents/"
        let name = root.replacing("(default)", with: "%28default%29") + path.text
        return try await get("/v1/" + name)
    }

    /// - Returns: The number of received bytes.
    private func get(_ path: String) async throws -> Int {
        let request = HTTPClientRequest(url: base + path)
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        guard response.status == .ok else {
            throw RPCStatus(.unknown, "HTTP \(response.status.code) at \(path)")
        }
        return try await response.body.collect(upTo: 1 << 20).readableBytes
    }
}
