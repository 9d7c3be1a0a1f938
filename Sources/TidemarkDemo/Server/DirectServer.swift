import Foundation
import TidemarkModel
import TidemarkWire

/// The server for an administrator: without the clients' network, and without rules.
struct DirectServer: Sendable {
    private let transport: GRPCTransport

    init(_ server: ServerProcess) {
        transport = GRPCTransport(
            .init(host: "127.0.0.1", port: server.directPort, usesTLS: false))
    }

    /// Reads all documents of a query. The meter counts them under the label `check`.
    // Inlined into a caller that awaits more, this makes the optimiser of Swift 6.3.1 crash.
    @inline(never)
    func documents(of query: Query) async throws -> [Document] {
        try await transport.documents(of: query, try DemoPlace.context("check")).documents
    }

    // Inlined into a caller that awaits more, this makes the optimiser of Swift 6.3.1 crash.
    @inline(never)
    func documents(in collection: CollectionPath) async throws -> [Document] {
        try await documents(of: Query(collection: collection))
    }

    /// Returns the time of the server's clock.
    func now() async throws -> Timestamp {
        let nothing = Query(collection: CollectionPath(unchecked: "nothing"))
        let answer = try await transport.documents(of: nothing, try DemoPlace.context("check"))
        guard let time = answer.readTime else {
            throw RPCStatus(.internal, "The server's response has no read time.")
        }
        return time
    }

    /// Commits the mutations in order, `together` in each commit.
    func play(_ mutations: [Mutation], together: Int = 1) async throws {
        let context = try DemoPlace.context("player")
        for first in stride(from: 0, to: mutations.count, by: together) {
            let part = mutations[first..<min(first + together, mutations.count)]
            _ = try await transport.commit(Array(part), context)
        }
    }

    /// Makes the server forget the history that it no longer needs, with as many commits as this
    /// takes.
    ///
    /// - Parameter changes: The maximum number of changes since the last call.
    func forget(_ changes: Int = 0) async throws {
        // The server forgets a thousand changes per commit. A write of the same content would be no
        // change, and a listener that has seen the last change resumes, however old it is.
        let path = DocumentPath(unchecked: "elsewhere/nothing")
        let changes = (0..<changes / 1_000 + 2).map { _ in
            Mutation(path: path, .set(["id": .string(UUID().uuidString)]))
        }
        try await play(changes)
    }

    func close() async { await transport.close() }
}
