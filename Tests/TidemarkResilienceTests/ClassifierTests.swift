import Foundation
import NIOCore
import Synchronization
import Testing
import TidemarkResilience
import TidemarkTestKit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The default classifier's decisions about errors that apps meet.
struct `What an error means by its type` {
    private struct Order: Encodable {
        var price = Double.nan
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(price)
        }
    }

    private static func encodingError() -> any Error {
        do { _ = try JSONEncoder().encode(Order()) } catch { return error }
        return CancellationError()
    }

    private static func decodingError() -> any Error {
        do { _ = try JSONDecoder().decode(Int.self, from: Data("no".utf8)) } catch { return error }
        return CancellationError()
    }

    @Test func `what cannot be encoded or decoded never can be`() {
        #expect(Failure(Self.encodingError()) == Failure(.permanent))
        #expect(Failure(Self.decodingError()) == Failure(.permanent))
    }

    @Test func `a cancellation is one, whoever throws it`() {
        #expect(Failure(CancellationError()).kind == .cancelled)
        #expect(Failure(URLError(.cancelled)).kind == .cancelled)
    }

    @Test(arguments: [
        (URLError.Code.timedOut, Failure(.transient)),
        (.networkConnectionLost, Failure(.transient)),
        (.notConnectedToInternet, Failure(.transient, hadNoEffect: true)),
        (.cannotConnectToHost, Failure(.transient, hadNoEffect: true)),
        (.badURL, Failure(.permanent)), (.unsupportedURL, Failure(.permanent)),
        (.userAuthenticationRequired, Failure(.authentication, hadNoEffect: true)),
    ])
    func `an error of URLSession is known by its number`(code: URLError.Code, wanted: Failure) {
        #expect(Failure(URLError(code)) == wanted)
    }

    @Test func `errors of sockets are known`() {
        #expect(Failure(POSIXError(.ECONNREFUSED)) == Failure(.transient, hadNoEffect: true))
        #expect(Failure(POSIXError(.ECONNRESET)) == Failure(.transient))
        #expect(Failure(POSIXError(.ENOENT)).kind == .unknown)
        #expect(Failure(IOError(errnoCode: ECONNRESET, reason: "read")) == Failure(.transient))
        #expect(Failure(ChannelError.eof) == Failure(.transient))
        #expect(Failure(ChannelError.connectTimeout(.seconds(1))) == Failure(.transient))
    }

    @Test(arguments: [
        (400, Failure.Kind.permanent), (401, .authentication), (403, .permanent),
        (404, .permanent), (408, .transient), (425, .transient), (429, .throttled),
        (500, .transient), (501, .permanent), (502, .transient), (503, .transient),
    ])
    func `a status of HTTP is known`(status: Int, kind: Failure.Kind) {
        #expect(Failure(HTTPStatusError(status)).kind == kind)
    }

    @Test func `what a server asks for in seconds or as a date is heard`() throws {
        let now = Date(timeIntervalSince1970: 784_111_777)
        let hint = { (text: String) in HTTPStatusError(503, retryAfter: text, now: now).failure.hint
        }
        #expect(hint("120") == .after(.seconds(120)))
        #expect(hint("Sun, 06 Nov 1994 08:50:37 GMT") == .after(.seconds(60)))
        #expect(hint("Sun, 06 Nov 1994 08:00:00 GMT") == .after(.zero), "it is over")
        #expect(hint("4294967295") == .after(.seconds(86_400)), "a day at the most")
        #expect(hint("soon") == nil && hint("-5") == nil)
    }

    @Test func `what nobody knows is tried again`() {
        struct Strange: Error {}
        #expect(Failure(Strange()) == Failure(.unknown))
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Retrying without a classifier` {
    private struct Strange: Error {}

    private let clock = ManualClock()

    /// The case of journey 4: an order that cannot be encoded is attempted once.
    @Test func `an encoding error is not retried`() async {
        let attempts = Mutex(0)
        await #expect(throws: RetryError.self) {
            try await Retry(.mobile).run {
                attempts.withLock { $0 += 1 }
                _ = try JSONEncoder().encode(Double.nan)
            }
        }
        #expect(attempts.withLock { $0 } == 1)
    }

    @Test func `a broken connection is`() async throws {
        let retry = Retry(.mobile, clock: clock)
        async let value = retry.run { attempt in
            if attempt < 3 { throw URLError(.networkConnectionLost) }
            return attempt
        }
        await clock.pass(.seconds(2))
        await clock.pass(.seconds(4))
        #expect(try await value == 3)
    }

    @Test func `a charge that may have happened is not made twice`() async throws {
        let retry = Retry(.mobile, clock: clock)
        do {
            try await retry.run(.write) { throw URLError(.networkConnectionLost) }
            Issue.record("it cannot succeed")
        } catch let error as RetryError {
            #expect(error.reason == .mayHaveHappened)
        }
    }

    @Test func `an error says itself what it means`() async throws {
        struct SoldOut: RetryClassifiable { var failure: Failure { Failure(.permanent) } }
        do {
            try await Retry(.mobile, clock: clock).run { throw SoldOut() }
            Issue.record("it cannot succeed")
        } catch let error as RetryError {
            #expect(error.reason == .permanent && error.attemptsMade == 1)
        }
    }

    @Test func `retries inside retries do not multiply`() async throws {
        let attempts = Mutex(0)
        let none = RetryPolicy(maxRetries: 2, initialDelay: .zero, jitter: .none)
        await #expect(throws: RetryError.self) {
            try await Retry(none).run {
                try await Retry(none).run {
                    attempts.withLock { $0 += 1 }
                    throw Strange()
                }
            }
        }
        #expect(attempts.withLock { $0 } == 3)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A wait with a limit` {
    private let clock = ManualClock()

    /// An operation that never ends and ignores cancellation.
    @Sendable private static func hang() async -> Int {
        await withUnsafeContinuation { (_: UnsafeContinuation<Int, Never>) in }
    }

    @Test func `ends though the operation does not`() async {
        let waiting = Task { [clock] in
            try await withTimeout(.seconds(5), clock: clock) { await Self.hang() }
        }
        await clock.pass(.seconds(5))
        await #expect(throws: AttemptTimedOut.self) { try await waiting.value }
    }

    @Test func `hands over what comes in time, and what is thrown`() async throws {
        #expect(try await withTimeout(.seconds(5)) { 7 } == 7)
        #expect(try await withTimeout(nil) { 7 } == 7)
        await #expect(throws: URLError.self) {
            try await withTimeout(.seconds(5)) { throw URLError(.badURL) }
        }
    }

    @Test func `ends with its caller`() async {
        let task = Task { [clock] in
            try await withTimeout(.seconds(5), clock: clock) { await Self.hang() }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
