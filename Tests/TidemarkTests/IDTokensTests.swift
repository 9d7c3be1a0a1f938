import Synchronization
import Testing
import Tidemark
import TidemarkTesting

/// Acts as FirebaseAuth: it has a user, and numbers the user's tokens.
private final class SomebodyElsesAuth: Sendable {
    private struct State {
        var user: String?
        var forced = 0
        var questions = 0
    }

    private let state = Mutex(State())

    var questions: Int { state.withLock { $0.questions } }
    func be(_ user: String?) { state.withLock { $0.user = user } }

    func idToken(forcingRefresh isForced: Bool) async -> String? {
        state.withLock { state in
            state.questions += 1
            if isForced { state.forced += 1 }
            return state.user.map { "\($0)-\(state.forced)" }
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Tokens that somebody else has` {
    private let auth = SomebodyElsesAuth()

    private func tokens() -> IDTokens {
        IDTokens { [auth] refused in await auth.idToken(forcingRefresh: refused != nil) }
    }

    @Test func `are nobody's, a user's, and refreshed when one is refused`() async throws {
        let tokens = tokens()
        #expect(try await tokens.token() == nil)
        auth.be("ada")
        #expect(try await tokens.token() == "ada-0")
        #expect(try await tokens.token(replacing: "ada-0") == "ada-1")
    }

    @Test func `that cannot be had make a call unavailable`() async throws {
        struct Offline: Error {}
        let tokens = IDTokens { _ in throw Offline() }
        await #expect(throws: RPCStatus.self) { try await tokens.token() }
        do { _ = try await tokens.token() } catch { #expect(error.code == .unavailable) }
    }

    @Test func `change with the user`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let tokens = tokens()
        auth.be("ada")
        #expect(try await tokens.token() == "ada-0")
        auth.be("bob")
        try await tokens.change(to: "bob", of: firestore)
        #expect(try await tokens.token() == "bob-0")
        auth.be(nil)
        try await tokens.change(to: nil, of: firestore)
        #expect(try await tokens.token() == nil)
        await local.stop()
    }

    @Test func `of the user before are not told to the next one's calls`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let asked = AsyncStream.makeStream(of: Void.self)
        let gate = Mutex<CheckedContinuation<String, Never>?>(nil)
        let isFirst = Mutex(true)
        let tokens = IDTokens { _ in
            guard
                isFirst.withLock({ first in
                    defer { first = false }; return first
                })
            else {
                return "bob"
            }
            return await withCheckedContinuation { continuation in
                gate.withLock { $0 = continuation }
                asked.continuation.yield()
            }
        }
        async let token = tokens.token()
        for await _ in asked.stream { break }
        try await tokens.change(to: "bob", of: firestore)
        gate.withLock { $0.take() }?.resume(returning: "ada")
        #expect(try await token == "bob")
        await local.stop()
    }
}
