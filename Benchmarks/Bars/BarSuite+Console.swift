import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TidemarkModel

/// The longest wait of a client's call while others ask for all pages of the console.
///
/// A page that held a lock while it searched once stopped the server for 16 s. The server knows
/// 20,000 calls, as after a day's work, and each page is asked for without a pause.
extension BarSuite {
    private static let rounds = 3
    private static let secondsOfRound = 10

    func hammered() async throws {
        var worst: [Double] = []
        var pages = 0
        for _ in 0..<Self.rounds {
            let (wait, count) = try await hammeredRound()
            worst.append(wait)
            pages += count
        }
        let each = worst.map { String(format: "%.1f", $0) }.joined(separator: ", ")
        check(
            .hammered, worst.max() ?? .nan,
            detail: "longest waits of \(Self.rounds) rounds: \(each) ms; \(pages) pages beside them"
        )
    }

    /// - Returns: The longest wait in milliseconds, and the number of pages that were fetched.
    private func hammeredRound() async throws -> (wait: Double, pages: Int) {
        let ports = folder.appending(path: "ports.json").path
        let flags = ["--control-port", "0", "--ports-file", ports]
        return try await serving(flags) { _, steps in
            let workload = Workload(count: 1_000)
            try await steps.load(workload)
            let paths = (0..<1_000).map { workload.path($0) }
            _ = try await mean(20_000, width: 16) { try await steps.get(paths[$0 % 1_000]) }
            let readers = PageReaders(port: try ServerChild.controlPort(in: ports))
            readers.start()
            defer { readers.stop() }
            var worst = 0.0
            let end = ContinuousClock.now + .seconds(Self.secondsOfRound)
            var round = 0
            while ContinuousClock.now < end {
                round += 1
                let path = paths[round % 1_000]
                worst = max(worst, try await time { _ = try await steps.get(path) })
                try await Task.sleep(for: .milliseconds(2))
            }
            if readers.fetched < 20 || readers.refused > 0 {
                throw ServerChildError(program: program.path, reason: "did not send its pages")
            }
            return (worst / 1_000, readers.fetched)
        }
    }
}

/// Six readers that ask for the pages of a console, one after the other, without a pause.
private final class PageReaders: Sendable {
    private static let paths = [
        "traffic", "traffic?filter=" + String(repeating: "messages/", count: 22), "cost",
        "cost?by=client", "data", "query", "history", "indexes", "rules", "accounts", "places",
        "tidemark/v1/meter?by=label,client,target",
    ]

    private let base: String
    private let answers = Atomic(0)
    private let failures = Atomic(0)
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// - Parameter port: The control port.
    init(port: Int) { base = "http://127.0.0.1:\(port)/" }

    /// The number of pages that were sent.
    var fetched: Int { answers.load(ordering: .relaxed) }
    /// The number of requests that failed.
    var refused: Int { failures.load(ordering: .relaxed) }

    func start() {
        let running = (0..<6).map { reader in
            Task {
                var next = reader
                while !Task.isCancelled {
                    await fetch(Self.paths[next % Self.paths.count])
                    next += 1
                }
            }
        }
        tasks.withLock { $0 = running }
    }

    func stop() {
        for task in tasks.withLock({ $0 }) { task.cancel() }
    }

    private func fetch(_ path: String) async {
        var request = HTTPClientRequest(url: base + path)
        request.headers.add(name: "accept", value: "text/html")
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 32 << 20)
            if response.status.code < 400 {
                answers.add(1, ordering: .relaxed)
            } else {
                failures.add(1, ordering: .relaxed)
            }
        } catch {
            if !Task.isCancelled { failures.add(1, ordering: .relaxed) }
        }
    }
}
