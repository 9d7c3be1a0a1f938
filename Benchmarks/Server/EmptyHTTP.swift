import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The yardstick of REST: the same HTTP with a constant answer.
enum EmptyHTTP {
    /// Answers every request on a connection with two letters.
    ///
    /// - Parameter told: Called for each request.
    static func accept(
        _ channel: any NIOCore.Channel, told: @escaping @Sendable () -> Void = {}
    ) -> EventLoopFuture<Void> {
        let http = HTTP1Channel { _, writer, _ in
            told()
            let response = Response(
                status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "Ok\n")))
            try await writer.write(response: response.head, body: response.body)
        }
        let logger = Logger(label: "benchmark.empty")
        return http.setup(channel: channel, logger: logger).map { value in
            Task { await http.handle(value: value, logger: logger) }
        }
    }
}
