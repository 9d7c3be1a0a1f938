import Crypto
import Dispatch
import Foundation
import Synchronization
public import TidemarkModel
public import TidemarkServer
import TidemarkStore
import TidemarkWire

/// Accounts, as Firebase Authentication's clients and administrators ask for them.
///
/// What is decided is decided in ``AccountsCore``, on one queue; this is the shell: paths and bodies,
/// signatures, passwords' keys on threads of their own. It has no socket; ``run(host:port:ready:)``
/// gives it one.
public final class AccountsServer: Sendable {
    /// Calls that may wait for the core; one more is refused.
    static let maxWaiting = 2_000

    public let settings: AccountsSettings
    let access: AccessToken?
    private let core: Mutex<AccountsCore>
    private let queue = DispatchQueue(label: "tidemark.accounts")
    private let waiting = Mutex(0)
    let hasher = PasswordHasher()
    let desk: TokenDesk
    private let watches = Mutex(CallerWatches())
    /// Bounds the bodies that are on their way at once.
    let bodies = BodyBudget(limit: 64 << 20)
    let guesses = GuessLimit()

    /// - Parameters:
    ///   - dataDirectory: The folder of its file, beside the documents'; nil for memory.
    ///   - access: What an administrator shows. Without one only an emulator has administrators.
    /// - Throws: ``StoreError`` when the data cannot be opened.
    public convenience init(
        _ settings: AccountsSettings, dataDirectory: String? = nil, access: AccessToken? = nil,
        providers: ProviderKeys = ProviderKeys()
    ) async throws {
        try await self.init(
            settings, dataDirectory: dataDirectory, access: access, providers: providers,
            environment: .live())
    }

    package init(
        _ settings: AccountsSettings, dataDirectory: String?, access: AccessToken?,
        providers: ProviderKeys, environment: AccountsEnvironment
    ) async throws {
        self.settings = settings
        self.access = access
        let core = try AccountsCore(
            settings, dataDirectory: dataDirectory, environment: environment)
        let now = environment.now
        desk = try await TokenDesk(core, providers: providers) { now().microseconds / 1_000 }
        self.core = Mutex(core)
    }

    /// Lets go of the data, when what is under way is done.
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
        if isFull { throw AccountRefusal("QUOTA_EXCEEDED : Too many calls wait.", status: 503) }
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

    /// - Parameter call: Without what its tokens say, which is found out here.
    func perform(_ call: AccountCall) async throws(AccountRefusal) -> [String: JSONTree] {
        var read = call
        try await readTokens(of: &read)
        let call = read
        var key: PasswordKey?
        let work = try await onCore { (core) throws(AccountRefusal) in try core.prepare(call) }
        if let work { key = try await hasher.key(work) }
        let made = key
        let reply = try await changing { (core) throws(AccountRefusal) in
            try core.perform(call, made)
        }
        guard let claims = reply.claims else { return reply.fields }
        let token = try await desk.sign(claims)
        var fields = reply.fields
        for name in reply.tokenFields { fields[name] = .text(token) }
        return fields
    }

    private func readTokens(of call: inout AccountCall) async throws(AccountRefusal) {
        if let token = try call.fields.text("idToken", upTo: TokenDesk.maxBytes), !token.isEmpty {
            call.token = try await desk.facts(token)
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

    /// Runs a change on the core's queue. Before its answer, streams end that were opened by tokens which
    /// the change has made worthless.
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

    /// Watches over a token that has opened a stream, from before it is looked at.
    ///
    /// - Parameter end: Called once, on the core's queue or behind a call, when the token is good no more
    ///   for another reason than its time.
    /// - Returns: What the token says, and the number of the watch for ``unwatch(_:)``.
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

    /// The watches over tokens that are good no more, by what has changed. They are over.
    private func endedWatches(
        _ core: AccountsCore
    ) -> [(end: @Sendable (AccountRefusal) -> Void, refusal: AccountRefusal)] {
        let watched = watches.withLock { $0.watches(over: core.takeChangedAccounts()) }
        return watched.compactMap { number, watch in
            do throws(AccountRefusal) {
                try core.check(watch.facts)
                return nil
            } catch {
                // Its time is over by itself; what cannot be looked up is not trusted any longer.
                unwatch(number)
                return (watch.end, error)
            }
        }
    }

    /// Whether a token is good for a call: signed by us, in its time, of an account that may call.
    func facts(ofCaller token: String) async throws(AccountRefusal) -> TokenFacts {
        let facts = try await desk.facts(token)
        try await onCore { (core) throws(AccountRefusal) in try core.check(facts) }
        return facts
    }
}

extension AccountsEnvironment {
    /// The system's generator, whose bytes nobody can guess, and SHA-256.
    ///
    /// - Parameter now: The machine's time, where nothing else is said.
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
            }, digest: { Array(SHA256.hash(data: $0)) })
    }
}

// MARK: For the server's own pages

extension AccountsServer {
    /// Asks as an administrator of this machine does: the server's own pages.
    ///
    /// - Throws: Why not, in the protocol's words.
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

    /// What a token says, whoever made it, and whether this server takes it.
    ///
    /// - Throws: For what is no token.
    package func takeApart(
        _ token: String
    ) async throws(AccountRefusal) -> (claims: [String: JSONTree], verdict: String) {
        let claims: [String: JSONTree]
        do { claims = try TokenDesk.unverified(token) } catch { throw .invalidIDToken }
        do throws(AccountRefusal) {
            _ = try await facts(ofCaller: token)
            return (claims, "This server takes it.")
        } catch { return (claims, "This server refuses it: \(error.message)") }
    }
}
