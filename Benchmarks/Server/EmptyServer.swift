import Dispatch
import Foundation
import TidemarkModel
import TidemarkWire

/// The yardstick of the server suite: the same gRPC and the same HTTP with constant answers. The
/// answers are made before the requests: 50 documents for a query, and all documents for a listen.
final class EmptyServer: Transport {
    private let documents: [Document]
    private let queue = DispatchQueue(label: "benchmark.empty")

    private init(_ documents: [Document]) { self.documents = documents }

    /// A server whose queries find nothing.
    static var withoutDocuments: EmptyServer { EmptyServer([]) }

    /// Runs the server until the process ends.
    static func run() async throws {
        let workload = ServerWorkload.listened
        let empty = EmptyServer((0..<workload.count).map(workload.document))
        let server = GRPCServer(
            empty, host: "127.0.0.1", port: 0, access: nil,
            plain: { channel, _ in EmptyHTTP.accept(channel) })
        try await server.run { port in
            FileHandle.standardOutput.write(Data("ready 127.0.0.1:\(port)\n".utf8))
        }
    }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let replies = replies(to: request)
        queue.async {
            for reply in replies { receive(.message(reply)) }
            receive(.ended(.ok))
        }
        return EmptyStream<ListenRequest> { _ in }
    }

    private func replies(to request: Request) -> [Reply] {
        switch request {
        case .runQuery: documents.prefix(50).map { .runQuery(RunQueryReply(document: $0)) }
        case .commit(let commit):
            [
                .commit(
                    CommitReply(
                        results: commit.mutations.map { _ in MutationResult(updateTime: .epoch) },
                        commitTime: .epoch))
            ]
        default: [.empty]
        }
    }

    func listen(
        _ context: CallContext, receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        EmptyStream { [queue, documents] request in
            guard case .add(let target, _) = request else { return }
            queue.async {
                for document in documents {
                    receive(
                        .message(.documentChange(DocumentChange(document, targetIDs: [target.id]))))
                }
                receive(
                    .message(.targetChange(TargetChange(.current, targetIDs: [target.id]))))
            }
        }
    }

    func write(
        _ context: CallContext, receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        EmptyStream { _ in }
    }
}

private final class EmptyStream<Message: Sendable>: RequestStream {
    private let receive: @Sendable (Message) -> Void

    init(_ receive: @escaping @Sendable (Message) -> Void) { self.receive = receive }

    func send(_ message: Message) { receive(message) }
    func finish() {}
    func cancel() {}
}
