import Foundation
import Synchronization
public import TidemarkModel
import TidemarkResilience

/// A ``TokenProvider`` made of one function, for tokens that somebody else has: FirebaseAuth, a session
/// of your own, a service account.
///
/// Callers that need a token at the same time share one question. A failure ends the call with
/// `UNAVAILABLE`, so that reads answer from the cache and writes wait. Thread-safe.
public final class IDTokens: TokenProvider {
    /// - Parameter refused: A token that the server answered `UNAUTHENTICATED` to, and that must not be
    ///   told again: force a refresh. Nil for any that is good.
    /// - Returns: Nil when nobody is signed in.
    public typealias Source = @Sendable (_ refused: String?) async throws -> String?

    private struct State {
        /// Callers that wait for a change of user to be over.
        var waiting: [@Sendable () -> Void] = []
        /// Changes that are under way.
        var changes = 0
        /// Counts the changes, so that no user is told a token that was asked for another one.
        var generation = 0
    }

    private let source: Source
    private let timeout: Duration
    private let state = Mutex(State())
    private let flights = SingleFlight<String, String?>()

    /// - Parameters:
    ///   - timeout: What one question may take; calls that wait for it end then with `UNAVAILABLE`.
    ///   - source: Keeps tokens itself: it is asked for each call, unless another question is under way.
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
            // Somebody else may be the user by now: the call asks again, and hears that one's.
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
            return .failure(RPCStatus(.unavailable, "No token came within \(timeout)."))
        } catch {
            return .failure(RPCStatus(.unavailable, "There is no token now: \(error)"))
        }
    }

    /// Makes another user the client's, as ``Firestore/changeUser(to:erasingPrevious:)`` does, and holds
    /// tokens back meanwhile: no call of one user carries the token of another.
    ///
    /// - Parameters:
    ///   - user: By the id that the token names; nil when nobody is signed in.
    ///   - firestore: The client that these tokens are for.
    ///   - erasing: As `erasingPrevious` there.
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
