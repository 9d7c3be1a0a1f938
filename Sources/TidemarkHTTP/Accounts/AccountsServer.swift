import Crypto
import Dispatch
import Foundation
import Synchronization
public import TidemarkModel
public import TidemarkServer
import TidemarkStore
import TidemarkWire

/// Serves accounts to the clients and administrators of Firebase Authentication.
///
/// ``AccountsCore`` makes all decisions, on one queue. This class is the shell: it decodes paths
/// and bodies, checks signatures, and hashes passwords on separate threads.
/// ``run(host:port:web:maxConnections:ready:)`` opens a socket.
public final class AccountsServer: Sendable {
    /// The maximum number of calls that wait for the core. Further calls are refused.
    static let maxWaiting = 2_000

    public let settings: AccountsSettings
    let access: AccessToken?
    private let blocking: BlockingDesk
    private let core: Mutex<AccountsCore>
    private let queue = DispatchQueue(label: "tidemark.accounts")
    private let waiting = Mutex(0)
    let hasher = PasswordHasher()
    let desk: TokenDesk
    private let watches = Mutex(CallerWatches())
    /// Limits the memory of bodies that are being read.
    let bodies = BodyBudget(limit: 64 << 20)
    let guesses = GuessLimit()

    /// - Parameters:
    ///   - dataDirectory: The folder of the accounts' file, next to the documents; nil keeps the
    ///     accounts in memory.
    ///   - access: The token of administrators. Without it, only an emulator has administrators.
    ///   - functions: Calls the blocking functions that a project's tools register; nil refuses
    ///     every call that needs one.
    /// - Throws: ``StoreError`` if the data cannot be opened.
    public convenience init(
        _ settings: AccountsSettings, dataDirectory: String? = nil, access: AccessToken? = nil,
        providers: ProviderKeys = ProviderKeys(),
        functions: (any BlockingFunctionCaller)? = nil
    ) async throws {
        try await self.init(
            settings, dataDirectory: dataDirectory, access: access, providers: providers,
            functions: functions, environment: .live())
    }

    package init(
        _ settings: AccountsSettings, dataDirectory: String?, access: AccessToken?,
        providers: ProviderKeys, functions: (any BlockingFunctionCaller)? = nil,
        environment: AccountsEnvironment
    ) async throws {
        self.settings = settings
        self.access = access
        blocking = BlockingDesk(functions: functions)
        let core = try AccountsCore(
            settings, dataDirectory: dataDirectory, environment: environment)
        let now = environment.now
        desk = try await TokenDesk(core, providers: providers) { now().microseconds / 1_000 }
        self.core = Mutex(core)
    }

    /// Closes the data after all running work is done.
    public func close() { queue.sync { core.withLock { $0.close() } } }

    /// Runs `body` on the core's queue.
    func onCore<T: Sendable>(
        _ body: @escaping @Sendable (AccountsCore) throws(AccountRefusal) -> T
    ) async throws(AccountRefusal) -> T {
        let isFull = waiting.withLock { count in
            if count >= Self.maxWaiting { return true }
            count += 1
            return false
        }
        if isFull {
            throw AccountRefusal("QUOTA_EXCEEDED : Too many calls are waiting.", status: 503)
        }
        defer { waiting.withLock { $0 -= 1 } }
        let result: Result<T, AccountRefusal> = await withCheckedContinuation { done in
            queue.async { [self] in
                let result: Result<T, AccountRefusal> = core.withLock { core in
                    do throws(AccountRefusal) { return .success(try body(core)) } catch {
                        return .failure(error)
                    }
                }
                done.resume(returning: result)
            }
        }
        return try result.get()
    }

    // MARK: Calls

    /// - Parameter call: The call, without the contents of its tokens. This method decodes the
    ///   tokens.
    func perform(_ call: AccountCall) async throws(AccountRefusal) -> [String: JSONTree] {
        var read = call
        try await readTokens(of: &read)
        let call = read
        var key: PasswordKey?
        let work = try await onCore { (core) throws(AccountRefusal) in try core.prepare(call) }
        if let work { key = try await hasher.key(work) }
        let reply = try await reply(to: call, key)
        guard let claims = reply.claims else { return reply.fields }
        let token = try await desk.sign(claims)
        if settings.mode == .secure, let facts = try? await desk.facts(token) {
            let mark = reply.mark
            try await onCore { core in core.noteIssue(of: facts, mark: mark) }
        }
        var fields = reply.fields
        for name in reply.tokenFields { fields[name] = .text(token) }
        return fields
    }

    /// Performs a call, and asks the blocking functions that the call needs.
    private func reply(
        to call: AccountCall, _ key: PasswordKey?
    ) async throws(AccountRefusal) -> AccountReply {
        var answers: [BlockingAnswer] = []
        while true {
            var asked = call
            asked.answers = answers
            let call = asked
            let reply = try await changing { (core) throws(AccountRefusal) in
                try core.perform(call, key)
            }
            guard let question = reply.question else { return reply }
            guard answers.count < BlockingQuestion.maxPerCall else {
                throw .blockingFunction(
                    "The account changes while the functions are asked.", status: 500)
            }
            answers.append(try await blocking.ask(question, tokens: desk))
        }
    }

    private func readTokens(of call: inout AccountCall) async throws(AccountRefusal) {
        if let token = try call.fields.text("idToken", upTo: TokenDesk.maxBytes), !token.isEmpty {
            let facts = try await desk.facts(token)
            call.token = facts
            // Clients name their tenant only when they sign in.
            if call.pool.tenant == nil, facts.pool.project.hasSameBytes(as: call.pool.project) {
                call.pool = facts.pool
            }
        }
        switch call.method {
        case .signInWithCustomToken:
            if let token = try call.fields.text("token", upTo: TokenDesk.maxBytes), !token.isEmpty {
                call.custom = try await desk.customToken(token)
            }
        case .signInWithIdp:
            guard let body = try call.fields.text("postBody", upTo: 2 * TokenDesk.maxBytes) else {
                throw AccountRefusal("INVALID_CREDENTIAL_OR_PROVIDER_ID : postBody is missing.")
            }
            call.identity = try await desk.identity(body)
        default: break
        }
    }

    // MARK: Streams

    /// Runs a change on the core's queue. If the change makes tokens invalid, ends their streams
    /// before it returns.
    func changing<T: Sendable>(
        _ body: @escaping @Sendable (AccountsCore) throws(AccountRefusal) -> T
    ) async throws(AccountRefusal) -> T {
        let outcome = try await onCore { [self] core in
            let result: Result<T, AccountRefusal>
            do throws(AccountRefusal) { result = .success(try body(core)) } catch {
                result = .failure(error)
            }
            return (result: result, ended: endedWatches(core))
        }
        for (end, refusal) in outcome.ended { end(refusal) }
        return try outcome.result.get()
    }

    /// Watches a token that opens a stream. The watch starts before the token is checked.
    ///
    /// - Parameter end: Called at most once, on the core's queue or after a call, if the token
    ///   becomes invalid before it expires.
    /// - Returns: The contents of the token, and the number of the watch for ``unwatch(_:)``.
    func watch(
        _ token: String, end: @escaping @Sendable (AccountRefusal) -> Void
    ) async throws(AccountRefusal) -> (TokenFacts, Int) {
        let facts = try await desk.facts(token)
        let number = watches.withLock { $0.add(facts, end) }
        do throws(AccountRefusal) {
            try await onCore { (core) throws(AccountRefusal) in try core.check(facts) }
            return (facts, number)
        } catch {
            unwatch(number)
            throw error
        }
    }

    func unwatch(_ number: Int) { watches.withLock { $0.remove(number) } }

    /// Removes and returns the watches whose tokens have become invalid.
    private func endedWatches(
        _ core: AccountsCore
    ) -> [(end: @Sendable (AccountRefusal) -> Void, refusal: AccountRefusal)] {
        let watched = watches.withLock { $0.watches(over: core.takeChangedAccounts()) }
        return watched.compactMap { number, watch in
            do throws(AccountRefusal) {
                try core.check(watch.facts)
                return nil
            } catch {
                // If the check itself fails, the token is no longer trusted.
                unwatch(number)
                return (watch.end, error)
            }
        }
    }

    /// Returns the contents of a token. Throws if this server did not sign the token, if the token
    /// has expired, or if its account may not call.
    func facts(ofCaller token: String) async throws(AccountRefusal) -> TokenFacts {
        let facts = try await desk.facts(token)
        try await onCore { (core) throws(AccountRefusal) in try core.check(facts) }
        return facts
    }
}

extension AccountsEnvironment {
    /// Uses the system's random generator, and the digests of swift-crypto.
    ///
    /// - Parameter now: Returns the current time. The default is the machine's clock.
    package static func live(
        now: @escaping @Sendable () -> Timestamp = {
            Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        }
    ) -> AccountsEnvironment {
        AccountsEnvironment(
            now: now,
            randomBytes: { count in
                var generator = SystemRandomNumberGenerator()
                return (0..<count).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
            }, digest: { Array(SHA256.hash(data: $0)) },
            authenticate: {
                // RFC 6238 and the apps for authentication use SHA-1, whose weakness HMAC does not
                // share.
                Array(
                    HMAC<Insecure.SHA1>.authenticationCode(
                        for: $1, using: SymmetricKey(data: $0)))
            })
    }
}

// MARK: For the server's own pages

extension AccountsServer {
    /// Performs a call as an administrator, for the server's own pages.
    ///
    /// - Throws: The error in the protocol's form.
    package func ask(
        _ method: AccountMethod, project: String, fields: [String: JSONTree]
    ) async throws(AccountRefusal) -> [String: JSONTree] {
        guard AccountsSettings.isProject(project) else {
            throw AccountRefusal("INVALID_PROJECT_ID")
        }
        var call = AccountCall(method, project: project, fields: AccountFields(fields))
        call.isAdmin = true
        return try await perform(call)
    }

    /// Returns the claims of a token from any issuer, and whether this server accepts the token.
    ///
    /// - Throws: ``AccountRefusal`` if the text is not a token.
    package func takeApart(
        _ token: String
    ) async throws(AccountRefusal) -> (claims: [String: JSONTree], verdict: String) {
        let claims: [String: JSONTree]
        do { claims = try TokenDesk.unverified(token) } catch { throw .invalidIDToken }
        do throws(AccountRefusal) {
            _ = try await facts(ofCaller: token)
            return (claims, "This server accepts this token.")
        } catch { return (claims, "This server refuses this token: \(error.message)") }
    }
}
