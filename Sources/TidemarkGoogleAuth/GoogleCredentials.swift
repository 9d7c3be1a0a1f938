public import Foundation
import Synchronization
import TidemarkHTTPClient
public import TidemarkResilience

/// Tokens of a service account for programs on a server, from a key file or from the metadata
/// server of a Google machine.
///
/// All callers share a token. It is kept in memory and renewed a few minutes before it expires.
/// Thread-safe.
public final class GoogleCredentials: Sendable {
    public enum Source: Sendable {
        case key(ServiceAccountKey)
        /// - Parameter host: The server's name, for example `metadata.google.internal`.
        case metadata(host: String)
    }

    /// The scope of all rights of the service account.
    public static let cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"
    /// The scope of Firestore only.
    public static let datastore = "https://www.googleapis.com/auth/datastore"

    /// The policy for a token request: four attempts, 10 s each and 25 s in total.
    public static let retryPolicy = RetryPolicy(
        maxRetries: 3, initialDelay: .seconds(1), factor: 2, maximumDelay: .seconds(4),
        jitter: .equal, attemptTimeout: .seconds(10), totalTimeout: .seconds(25),
        waitsForNetwork: false)
    /// A token that expires within this time, in seconds, is renewed before use.
    static let renewsBefore: Int64 = 300
    private static let maxReplyBytes = 1 << 20
    private static let timeout = Duration.seconds(10)
    /// A call ends earlier, by its own limit.
    private static let session = HTTPSession(maxRedirects: 5, silence: .seconds(60))

    private struct Held: Sendable {
        let token: String
        let expires: Int64
    }

    public let source: Source
    private let scopes: [String]
    private let retry: Retry<ContinuousClock>
    private let now: @Sendable () -> Int64
    private let held = Mutex<Held?>(nil)
    private let flights = SingleFlight<String, String>()

    /// - Parameters:
    ///   - source: A key file, or the metadata server.
    ///   - scopes: The scopes of the tokens. The metadata server ignores them and uses the
    ///     machine's scopes.
    ///   - retry: The policy for token requests.
    ///   - now: Returns the seconds since 1970.
    public init(
        _ source: Source, scopes: [String] = [GoogleCredentials.cloudPlatform],
        retry: RetryPolicy = GoogleCredentials.retryPolicy,
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) {
        self.source = source
        self.scopes = scopes
        self.retry = Retry(retry)
        self.now = now
    }

    /// Returns the credentials that the environment names: the key file of
    /// `GOOGLE_APPLICATION_CREDENTIALS`, otherwise the metadata server at `GCE_METADATA_HOST` or
    /// the default host.
    ///
    /// - Parameters:
    ///   - environment: The environment variables.
    ///   - scopes: The scopes of the tokens.
    ///   - patience: The maximum time to wait for a metadata server.
    /// - Throws: ``GoogleAuthError/badKey(_:)`` if the file is not a valid key, and
    ///   ``GoogleAuthError/noCredentials`` if no metadata server answers in time.
    public static func found(
        in environment: [String: String] = ProcessInfo.processInfo.environment,
        scopes: [String] = [GoogleCredentials.cloudPlatform],
        within patience: Duration = .seconds(3)
    ) async throws(GoogleAuthError) -> GoogleCredentials {
        if let path = environment["GOOGLE_APPLICATION_CREDENTIALS"], !path.isEmpty {
            return GoogleCredentials(.key(try ServiceAccountKey(file: path)), scopes: scopes)
        }
        let host = environment["GCE_METADATA_HOST"] ?? "metadata.google.internal"
        let request = metadata(host, "")
        let reply = try? await withTimeout(patience) { try await session.head(of: request) }
        guard reply?.field("metadata-flavor") == "Google" else { throw .noCredentials }
        return GoogleCredentials(.metadata(host: host), scopes: scopes)
    }

    /// Returns the project of the key file or of the machine.
    public func project() async throws(GoogleAuthError) -> String {
        switch source {
        case .key(let key):
            guard let project = key.project else { throw .badKey("It names no project.") }
            return project
        case .metadata(let host):
            return try await text(ofMetadata: host, "project/project-id")
        }
    }

    /// Returns a token that is valid for at least some minutes.
    ///
    /// - Parameter refused: A token that a server has rejected. The function requests another one
    ///   unless the token has been replaced already.
    public func token(replacing refused: String? = nil) async throws(GoogleAuthError) -> String {
        let now = now()
        if let held = held.withLock({ $0 }), held.token != refused,
            held.expires - now > Self.renewsBefore
        {
            return held.token
        }
        do {
            return try await flights.value(for: "token") { [self] in try await renewed() }
        } catch let error as GoogleAuthError { throw error } catch {
            throw .unreachable("It was cancelled.")
        }
    }

    private func renewed() async throws -> String {
        do {
            let new = try await retry.run { [self] in try await asked() }
            held.withLock { $0 = new }
            return new.token
        } catch let error as RetryError {
            throw error.last as? GoogleAuthError ?? GoogleAuthError.unreachable("No answer.")
        }
    }

    private func asked() async throws -> Held {
        switch source {
        case .key(let key):
            let assertion = try key.assertion(scopes: scopes, now: now())
            let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
            return try await token(
                HTTPRequest(
                    "POST", key.tokenAddress,
                    fields: [("content-type", "application/x-www-form-urlencoded")],
                    body: Array("grant_type=\(grant)&assertion=\(assertion)".utf8)))
        case .metadata(let host):
            let scope = scopes.joined(separator: ",")
            let escaped =
                scope.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let path = "instance/service-accounts/default/token?scopes=\(escaped)"
            return try await token(Self.metadata(host, path))
        }
    }

    // MARK: HTTP

    private struct TokenReply: Decodable {
        let access_token: String?
        let expires_in: Int64?
    }

    private struct ErrorReply: Decodable {
        let error, error_description: String?
    }

    private static func metadata(_ host: String, _ path: String) -> HTTPRequest {
        HTTPRequest(
            "GET", "http://\(host)/computeMetadata/v1/\(path)",
            fields: [("metadata-flavor", "Google")])
    }

    private func token(_ request: HTTPRequest) async throws -> Held {
        let data = try await answer(to: request)
        guard let reply = try? JSONDecoder().decode(TokenReply.self, from: data),
            let token = reply.access_token
        else { throw GoogleAuthError.unreachable("The answer is no token.") }
        return Held(token: token, expires: now() + min(max(reply.expires_in ?? 3_600, 1), 86_400))
    }

    private func text(ofMetadata host: String, _ path: String) async throws(GoogleAuthError)
        -> String
    {
        do {
            return String(decoding: try await answer(to: Self.metadata(host, path)), as: UTF8.self)
        } catch let error as GoogleAuthError { throw error } catch {
            throw .unreachable("It was cancelled.")
        }
    }

    private func answer(to request: HTTPRequest) async throws -> Data {
        let answer: HTTPAnswer
        do {
            answer = try await withTimeout(Self.timeout) {
                try await Self.session.answer(to: request, upTo: Self.maxReplyBytes)
            }
        } catch let error as CancellationError {
            throw error
        } catch is AttemptTimedOut {
            throw GoogleAuthError.unreachable(
                "No answer within \(Self.timeout.components.seconds) s.")
        } catch { throw GoogleAuthError.unreachable(HTTPSession.explanation(error)) }
        let data = Data(answer.body)
        if answer.status == 200 { return data }
        let reply = try? JSONDecoder().decode(ErrorReply.self, from: data)
        let word = [reply?.error, reply?.error_description].compactMap { $0 }
            .joined(separator: ": ")
        // An error about the key is final; an error of the server is not.
        if (400..<500).contains(answer.status), answer.status != 429 {
            throw GoogleAuthError.refused(word.isEmpty ? "status \(answer.status)" : word)
        }
        throw GoogleAuthError.unreachable("status \(answer.status)")
    }
}
