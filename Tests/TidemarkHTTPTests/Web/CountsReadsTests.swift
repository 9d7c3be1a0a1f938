import Foundation
import TestSupport
import Testing
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The trait of the article *A gate for your reads*.

/// Counts the reads of each test under its name. Without `tidemark reads`, does nothing.
struct CountsReads: TestTrait, SuiteTrait, TestScoping {
    var control = ProcessInfo.processInfo.environment["TIDEMARK_CONTROL_HOST"]
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await send("PUT", "\(test.id)")
        try await body()
        try await send("DELETE", "")
    }

    private func send(_ method: String, _ label: String) async throws {
        guard let control else { return }
        var request = URLRequest(url: URL(string: "http://\(control)/tidemark/v1/label")!)
        request.httpMethod = method
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(["label": label])
        _ = try await URLSession.shared.data(for: request)
    }
}

extension Trait where Self == CountsReads {
    static var countsReads: Self { Self() }
}

@Suite(.countsReads, .serialized) struct `The trait that counts reads` {
    @Test func `labels the calls of a test on a running server`() async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let control = ControlServer(server, host: "127.0.0.1", port: 0)
        let (ports, opened) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await control.run { opened.yield($0) } }
        let port = try #require(await ports.first { _ in true })
        let database = try DatabaseID(project: "demo")
        let read = Request.listCollectionIDs(ListCollectionIDsRequest(parent: nil))
        let test = try #require(Test.current)
        try await CountsReads(control: "127.0.0.1:\(port)").provideScope(for: test, testCase: nil) {
            _ = try await server.replies(to: read, CallContext(database: database))
        }
        _ = try await server.replies(to: read, CallContext(database: database))
        let rows = server.meter()
        #expect(rows.map(\.label).sorted() == ["\(test.id)", "unlabelled"].sorted())
        #expect(rows.allSatisfy { $0.reads == 1 })
        running.cancel()
        _ = await running.result
    }

    @Test(arguments: ["{}", "[]", "", #"{"label": ""}"#, #"{"label": 3}"#])
    func `and a label that is none is refused`(body: String) async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let control = ControlServer(server, host: "127.0.0.1", port: 0)
        let (ports, opened) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await control.run { opened.yield($0) } }
        let port = try #require(await ports.first { _ in true })
        var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port)/tidemark/v1/label")!)
        request.httpMethod = "PUT"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(body.utf8)
        let (data, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 400)
        #expect(String(decoding: data, as: UTF8.self).contains("The body must be"))
        running.cancel()
        _ = await running.result
    }
}
