import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import TidemarkHTTP

/// Calls blocking functions at addresses of this machine, and at the host of `--functions`.
struct HTTPFunctionCaller: BlockingFunctionCaller {
    /// The host of the functions emulator; nil for none.
    let emulatorHost: String?

    /// The longest time of a call: the lifetime of the function's token.
    private static let timeout = TimeAmount.seconds(60)
    private static let maxAnswer = 64 << 10

    func post(
        _ body: Data, to url: String
    ) async throws(BlockingCallFailure) -> (status: Int, body: Data) {
        // A project's configuration names the address, and must not make this server call others.
        guard let host = URL(string: url)?.host(), !host.isEmpty,
            AccessOptions.isLoopback(host) || host == emulatorHost
        else {
            throw BlockingCallFailure(
                """
                \(url) is neither on this machine nor at the host of --functions, and is not \
                called.
                """)
        }
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await HTTPEventReceiver.client.execute(
                request, timeout: Self.timeout)
            let answer = try await response.body.collect(upTo: Self.maxAnswer)
            return (Int(response.status.code), Data(answer.readableBytesView))
        } catch {
            throw BlockingCallFailure(
                error is NIOConnectionError
                    ? "Failed to make request to \(url): nothing listens there."
                    : "Failed to make request to \(url): \(error)")
        }
    }
}
