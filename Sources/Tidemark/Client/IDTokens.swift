import Foundation
import Synchronization
public import TidemarkModel
import TidemarkResilience

/// A ``TokenProvider`` made of a function, for tokens from another source: FirebaseAuth, your own
/// session, a service account.
///
/// Callers that need a token at the same time share a call of the function. A failure ends the call
/// with `UNAVAILABLE`, so reads answer from the cache and writes wait. Thread-safe.
public final class IDTokens: TokenProvider {
    /// - Parameter refused: A token that the server answered with `UNAUTHENTICATED`, and that must
    ///   not be returned again: force a refresh. Nil if any valid token will do.
    /// - Returns: Nil if no user is signed in.
    public typealias Source = @Sendable (_ refused: String?) async throws -> String?

    private struct State {
        /// The callers that wait until a change of user ends.
        var waiting: [@Sendable () -> Void] = []
        /// The number of changes in progress.
        var changes = 0
        /// The number of changes. It ensures that no user receives a token that was requested for
        /// another user.
        var generation = 0
    }

    private let source: Source
    private let timeout: Duration
    private let state = Mutex(State())
    private let flights = SingleFlight<String, String?>()

    /// - Parameters:
    ///   - timeout: The maximum time of a call of `source`; calls that wait for it then end with
    ///     `UNAVAILABLE`.
    ///   - source: The function that returns tokens, and caches them itself: it is called for each
    ///     request, unless another call is in progress.
    public init(timeout: Duration = .seconds(25), _ source: @escaping Source) {
        self.source = source
        self.timeout = timeout
    }

    public func token(
        replacing refused: String?,
        receive: @escaping @Sendable (Result<String?, RPCStatus>) -> Void
    ) {
        let generation = state.withLock { state -> Int? in
            if state.changes == 0 { return state.generation }
            state.waiting.append { [weak self] in
                guard let self else { return receive(.success(nil)) }
                token(replacing: refused, receive: receive)
            }
            return nil
        }
        guard let generation else { return }
        Task {
            let result = await asked(replacing: refused, generation)
            // Another user can be set by now: the request starts again, for that user's token.
            guard state.withLock({ $0.generation == generation }) else {
                return token(replacing: nil, receive: receive)
            }
            receive(result)
        }
    }

    private func asked(
        replacing refused: String?, _ generation: Int
    ) async -> Result<String?, RPCStatus> {
        do {
            let (source, timeout) = (source, timeout)
            return .success(
                try await flights.value(for: "\(generation) \(refused ?? "")") {
                    try await withTimeout(timeout) { try await source(refused) }
                })
        } catch let status as RPCStatus {
            return .failure(status)
        } catch is AttemptTimedOut {
            return .failure(RPCStatus(.unavailable, "No token arrived within \(timeout)."))
        } catch {
            return .failure(RPCStatus(.unavailable, "There is no token now: \(error)"))
        }
    }

    /// Makes another user the client's, like ``Firestore/changeUser(to:erasingPrevious:)``, and
    /// delays tokens during the change: no call of a user carries the token of another user.
    ///
    /// - Parameters:
    ///   - user: The id that the token names; nil if no user is signed in.
    ///   - firestore: The client that these tokens are for.
    ///   - erasing: See `erasingPrevious` of ``Firestore/changeUser(to:erasingPrevious:)``.
    public func change(
        to user: String?, of firestore: Firestore, erasing: Bool = false
    ) async throws(FirestoreError) {
        state.withLock { $0.changes += 1 }
        defer {
            let waiting = state.withLock { state in
                state.changes -= 1
                state.generation += 1
                guard state.changes == 0 else { return [@Sendable () -> Void]() }
                defer { state.waiting = [] }
                return state.waiting
            }
            for proceed in waiting { proceed() }
        }
        try await firestore.changeUser(to: user, erasingPrevious: erasing)
    }
}
