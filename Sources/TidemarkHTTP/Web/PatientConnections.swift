import Hummingbird
package import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import TidemarkWire

/// HTTP/1.1 on a separate port, with time limits for requests and a limit for connections.
struct PatientConnections: ServerChildChannel {
    /// An accepted connection, which is ended with this object if nobody serves it.
    ///
    /// A server that ends drops the connections that it has accepted and not served. NIO ends the
    /// process if a channel is dropped that was never executed and closed.
    final class Value: ServerChildChannelValue {
        private let http: HTTP1Channel
        private let connection: HTTP1Channel.Value
        private let isServed = Mutex(false)
        var channel: any NIOCore.Channel { connection.channel }

        init(_ http: HTTP1Channel, _ connection: HTTP1Channel.Value) {
            self.http = http
            self.connection = connection
        }

        func serve(logger: Logger) async {
            isServed.withLock { $0 = true }
            await http.handle(value: connection, logger: logger)
        }

        deinit {
            if isServed.withLock(\.self) { return }
            Task { [connection] in try? await connection.executeThenClose { _, _ in } }
        }
    }

    let patience: RequestPatience
    let responder: HTTPChannelHandler.Responder

    func setup(channel: any NIOCore.Channel, logger: Logger) -> EventLoopFuture<Value> {
        let head = HeadPatience(patience.head)
        let http = HTTP1Channel(
            responder: { [responder, patience] request, writer, channel in
                let number = head.requestBegan()
                defer { head.requestEnded() }
                try await responder(request, writer, channel)
                guard request.hasBody else { return }
                // The body of a refused request is not read, but the library waits for its end.
                channel.eventLoop.scheduleTask(in: patience.body) {
                    if head.requests == number { channel.close(mode: .all, promise: nil) }
                }
            }, configuration: .init(idleTimeout: patience.idle))
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(head)
        }.flatMap {
            http.setup(channel: channel, logger: logger)
        }.map { Value(http, $0) }
    }

    func handle(value: Value, logger: Logger) async {
        await value.serve(logger: logger)
    }
}

extension HTTPServerBuilder {
    /// Serves connections with time limits for a request's head, for its body and for idle
    /// connections. A connection that is accepted while the server ends is closed.
    package static func patient(
        _ patience: RequestPatience = RequestPatience()
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { PatientConnections(patience: patience, responder: $0) }
    }
}

extension Request {
    var hasBody: Bool {
        headers[.contentLength].map { $0 != "0" } ?? (headers[.transferEncoding] != nil)
    }
}

extension RequestBody {
    /// Waits for the whole body.
    ///
    /// - Parameters:
    ///   - limit: The maximum size, in bytes.
    ///   - share: Grows by the received bytes.
    ///   - channel: Closed if the body takes longer than `patience`.
    func collected(
        upTo limit: Int, _ share: BodyBudget.Share, on channel: any NIOCore.Channel,
        within patience: TimeAmount
    ) async throws(BodyRefusal) -> [UInt8] {
        let timer = channel.eventLoop.scheduleTask(in: patience) {
            channel.close(mode: .all, promise: nil)
        }
        defer { timer.cancel() }
        var bytes: [UInt8] = []
        do {
            for try await part in self {
                guard bytes.count + part.readableBytes <= limit else { throw BodyRefusal.tooLarge }
                guard share.grow(by: part.readableBytes) else { throw BodyRefusal.noRoom }
                bytes.append(contentsOf: part.readableBytesView)
            }
        } catch { throw error as? BodyRefusal ?? .cutOff }
        return bytes
    }
}

/// The reason why a body is not completely read.
enum BodyRefusal: Error {
    case tooLarge
    /// The sender has left, or took too long.
    case cutOff
    /// The budget of all requests is used up.
    case noRoom
}

/// The context of a request, with its connection.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any NIOCore.Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The caller's address without the port. All connections of a machine count together.
    var address: String { channel.remoteAddress?.ipAddress ?? "" }
}
