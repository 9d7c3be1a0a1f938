package import TidemarkModel
import TidemarkWire

/// Listens to a query without a client, as FirebaseFirestore does. Its reads count under a label of
/// their own.
package struct OldListener {
    /// A complete result, as a client stores it.
    package struct Result {
        package var documents: [Document]
        package var version: Timestamp
        package var token: [UInt8]
    }

    private let host: String
    private let port: Int
    private let context: CallContext

    package init(host: String = "127.0.0.1", port: Int, _ context: CallContext) {
        (self.host, self.port, self.context) = (host, port, context)
    }

    /// Returns the first complete result.
    package func result(of query: Query) async throws -> Result {
        let transport = GRPCTransport(.init(host: host, port: port, usesTLS: false))
        do {
            let result = try await result(of: query, over: transport)
            await transport.close()
            return result
        } catch {
            await transport.close()
            throw error
        }
    }

    private func result(of query: Query, over transport: GRPCTransport) async throws -> Result {
        let (events, input) = AsyncStream.makeStream(of: StreamEvent<ListenResponse>.self)
        let stream = transport.listen(context) { input.yield($0) }
        defer { stream.cancel() }
        stream.send(.add(ListenTarget(id: 2, .query(query)), labels: [:]))
        var documents: [DocumentPath: Document] = [:]
        var token: [UInt8] = []
        var isCurrent = false
        for await event in events {
            switch event {
            case .ended(let status): throw status
            case .message(.documentChange(let change)):
                documents[change.document.path] = change.document
            case .message(.targetChange(let change)):
                if change.kind == .remove { throw change.cause ?? RPCStatus(.internal, "") }
                if change.kind == .current { isCurrent = true }
                if !change.resumeToken.isEmpty { token = change.resumeToken }
                if isCurrent, change.kind == .noChange, let version = change.readTime {
                    return Result(
                        documents: documents.values.sorted { $0.path < $1.path },
                        version: version, token: token)
                }
            case .message: break
            }
        }
        throw CancellationError()
    }
}
