import Foundation
import TidemarkHTTP
import TidemarkHTTPClient

/// Calls blocking functions at addresses of this machine, and at the host of `--functions`.
struct HTTPFunctionCaller: BlockingFunctionCaller {
    /// The host of the functions emulator; nil for none.
    let emulatorHost: String?

    /// The longest time of a call: the lifetime of the function's token.
    private static let timeout = Duration.seconds(60)
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
        let answer: HTTPAnswer
        do throws(FunctionCall.Failure) {
            answer = try await FunctionCall.post(
                [UInt8](body), fields: [("content-type", "application/json")], to: url,
                within: Self.timeout, upTo: Self.maxAnswer + 1)
        } catch {
            throw BlockingCallFailure("Failed to make request to \(url): \(error.reason).")
        }
        guard answer.body.count <= Self.maxAnswer else {
            throw BlockingCallFailure("The answer of \(url) is longer than 64 KiB.")
        }
        return (answer.status, Data(answer.body))
    }
}
