import TidemarkModel
import TidemarkWire

/// The documents of the server suite.
enum ServerWorkload {
    /// The collection is small enough for a listener on all of it.
    static let listened = Workload(count: 10_000, collection: "listened")
}

/// The steps over gRPC, from this process to another.
struct ServerSteps: Sendable {
    let transport: GRPCTransport
    let context = CallContext(database: Workload.database)

    init(_ child: ServerChild) {
        transport = GRPCTransport(.init(host: "127.0.0.1", port: child.port, usesTLS: false))
    }

    func load(_ workload: Workload) async throws {
        for start in stride(from: 0, to: workload.count, by: 500) {
            let numbers = start..<min(start + 500, workload.count)
            _ = try await transport.commit(numbers.map { Self.set(workload, $0) }, context)
        }
    }

    static func set(_ workload: Workload, _ number: Int) -> Mutation {
        Mutation(path: workload.path(number), .set(workload.fields(number)))
    }

    /// Makes the shortest possible call: a request of a few bytes and an empty answer.
    func emptyCall() async throws -> Int {
        try await transport.replies(to: .rollback([1]), context).count
    }

    func get(_ path: DocumentPath) async throws -> Int {
        try await transport.replies(to: .getDocument(GetDocumentRequest(path: path)), context)
            .count
    }

    func commit(_ mutations: [Mutation]) async throws -> Int {
        try await transport.commit(mutations, context).results.count
    }

    func query(_ query: Query) async throws -> Int {
        try await transport.documents(of: query, context).documents.count
    }

    /// Returns when the target is current.
    func listen(_ query: Query) async throws -> Int {
        let (events, sink) = AsyncStream.makeStream(of: StreamEvent<ListenResponse>.self)
        let stream = transport.listen(context) { sink.yield($0) }
        defer { stream.cancel() }
        stream.send(.add(ListenTarget(id: 1, .query(query)), labels: [:]))
        var count = 0
        for await event in events {
            switch event {
            case .message(.documentChange): count += 1
            case .message(.targetChange(let change)) where change.kind == .current: return count
            case .message: continue
            case .ended(let status): throw status
            }
        }
        return count
    }
}
