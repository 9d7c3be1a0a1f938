import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// A browser with an open page of the console's traffic: it waits for events, and fetches the page
/// again at each event about traffic.
final class ConsoleReader: Sendable {
    private let base: String
    private let pages = Atomic(0)
    private let task = Mutex<Task<Void, any Error>?>(nil)

    /// - Parameter port: The control port.
    init(port: Int) { base = "http://127.0.0.1:\(port)" }

    /// The number of fetched pages.
    var fetched: Int { pages.load(ordering: .relaxed) }

    /// - Throws: An error if the console does not answer.
    func open() async throws {
        try await fetch()
        let running = Task { [self] in
            let request = HTTPClientRequest(url: base + "/events")
            let response = try await HTTPClient.shared.execute(request, timeout: .hours(1))
            for try await part in response.body
            where String(buffer: part).contains("event: traffic") { try await fetch() }
        }
        task.withLock { $0 = running }
    }

    func close() {
        task.withLock { task in
            task?.cancel()
            task = nil
        }
    }

    private func fetch() async throws {
        let request = HTTPClientRequest(url: base + "/traffic")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        guard response.status == .ok else {
            throw ServerChildError(program: base, reason: "answered \(response.status.code)")
        }
        _ = try await response.body.collect(upTo: 8 << 20)
        pages.add(1, ordering: .relaxed)
    }
}
