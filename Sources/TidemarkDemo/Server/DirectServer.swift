import TidemarkModel
import TidemarkWire

/// A server as it is, whatever network clients have to it, for an administrator: no rules apply.
struct DirectServer: Sendable {
    private let transport: GRPCTransport

    init(_ server: ServerProcess) {
        transport = GRPCTransport(
            .init(host: "127.0.0.1", port: server.directPort, usesTLS: false))
    }

    /// Reads a query whole; on the meter under a label of its own.
    // Inlined into a caller that goes on waiting, it makes the optimiser of Swift 6.3.1 crash.
    @inline(never)
    func documents(of query: Query) async throws -> [Document] {
        try await transport.documents(of: query, try DemoPlace.context("check")).documents
    }

    // Inlined into a caller that goes on waiting, it makes the optimiser of Swift 6.3.1 crash.
    @inline(never)
    func documents(in collection: CollectionPath) async throws -> [Document] {
        try await documents(of: Query(collection: collection))
    }

    /// By the server's clock.
    func now() async throws -> Timestamp {
        let nothing = Query(collection: CollectionPath(unchecked: "nothing"))
        let answer = try await transport.documents(of: nothing, try DemoPlace.context("check"))
        guard let time = answer.readTime else {
            throw RPCStatus(.internal, "The server did not say as of when it answered.")
        }
        return time
    }

    /// Commits in order, `together` at a time.
    func play(_ mutations: [Mutation], together: Int = 1) async throws {
        let context = try DemoPlace.context("player")
        for first in stride(from: 0, to: mutations.count, by: together) {
            let part = mutations[first..<min(first + together, mutations.count)]
            _ = try await transport.commit(Array(part), context)
        }
    }

    /// Has the server forget what it need not know any more, by as many commits as that takes.
    ///
    /// - Parameter changes: What was written at the most since this was done last.
    func forget(_ changes: Int = 0) async throws {
        let nothing = Mutation(path: DocumentPath(unchecked: "elsewhere/nothing"), .set([:]))
        // It forgets a thousand changes a commit.
        try await play(Array(repeating: nothing, count: changes / 1_000 + 2))
    }

    func close() async { await transport.close() }
}
