public import Foundation
import TidemarkServer

/// Calls a project's blocking functions over HTTP.
public protocol BlockingFunctionCaller: Sendable {
    /// Posts a JSON body to a function.
    ///
    /// - Returns: The status and the body of the answer, of at most 64 KiB.
    /// - Throws: ``BlockingCallFailure`` if the function may not be called, cannot be reached, or
    ///   does not answer in time.
    func post(
        _ body: Data, to url: String
    ) async throws(BlockingCallFailure) -> (status: Int, body: Data)
}

/// The reason why a blocking function was not called, or has not answered.
public struct BlockingCallFailure: Error, Hashable, Sendable {
    /// A sentence for the developer.
    public let message: String

    public init(_ message: String) { self.message = message }
}

/// Asks blocking functions.
struct BlockingDesk: Sendable {
    /// The number of characters of a function's answer that an error quotes.
    private static let quoted = 300

    /// Calls the functions; nil refuses every call that needs one.
    let functions: (any BlockingFunctionCaller)?

    /// Asks a function.
    ///
    /// - Throws: `BLOCKING_FUNCTION_ERROR_RESPONSE` if the function fails, does not allow the call,
    ///   or cannot be reached.
    func ask(
        _ question: BlockingQuestion, tokens: TokenDesk
    ) async throws(AccountRefusal) -> BlockingAnswer {
        guard let functions else {
            throw .blockingFunction("This server calls no functions.", status: 500)
        }
        let token = try await tokens.unsigned(question.claims)
        let body = AccountsJSON.data(["data": .object(["jwt": .text(token)])])
        let answer: (status: Int, body: Data)
        do throws(BlockingCallFailure) {
            answer = try await functions.post(body, to: question.url)
        } catch { throw .blockingFunction(error.message, status: 500) }
        let text = String(decoding: answer.body, as: UTF8.self).prefix(Self.quoted)
        guard (200..<300).contains(answer.status) else {
            throw .blockingFunction(
                "HTTP request to \(question.url) returned HTTP error \(answer.status): \(text)")
        }
        if answer.body.isEmpty { return try question.answer([:]) }
        guard let reply = AccountsJSON.object(answer.body) else {
            throw .blockingFunction("The answer of \(question.url) is no JSON object: \(text)")
        }
        return try question.answer(reply)
    }
}
