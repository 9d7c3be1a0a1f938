import ArgumentParser
import Foundation
import TidemarkGoogleAuth
import TidemarkWire

/// The options that name a database: of Google's service, or of a local server.
struct PlaceOptions: ParsableArguments {
    @Option(help: "The project. (default: the project of the credentials; demo on a local server)")
    var project: String?

    @Option(help: "The database of the project.")
    var database = "(default)"

    @Option(
        help: """
            HOST:PORT of a local Firestore, without TLS. (default: FIRESTORE_EMULATOR_HOST, or \
            Google's service)
            """)
    var host: String?

    /// What the help of a command says about the rights of its calls.
    static let rights = """
        Asks Google's service with the token of TIDEMARK_TOKEN, or as the service account of \
        GOOGLE_APPLICATION_CREDENTIALS or of the machine. Asks a local server as an administrator.
        """
}

/// A Firestore and the tokens for it: Google's, or a local server.
struct FirestorePlace: Sendable {
    /// Returns a token. The parameter is a token that the server has refused, if any.
    typealias Tokens = @Sendable (_ refused: String?) async throws -> String

    static let google = GRPCTransport.Endpoint(
        host: "firestore.googleapis.com", port: 443, usesTLS: true)

    let endpoint: GRPCTransport.Endpoint
    let project: String
    let tokens: Tokens

    /// Uses the option, then `FIRESTORE_EMULATOR_HOST`, and Google's service if neither names a
    /// host.
    ///
    /// - Parameters:
    ///   - host: HOST:PORT of a server without TLS.
    ///   - project: The project; nil for that of the credentials, or `demo` on a local server.
    ///   - environment: The environment variables.
    ///   - token: A token that replaces that of the credentials.
    ///   - cloud: The service that is used without a host.
    /// - Throws: `ValidationError` or `CommandFailure` with a sentence.
    init(
        host: String?, project: String?, environment: [String: String], token: String?,
        cloud: GRPCTransport.Endpoint = FirestorePlace.google
    ) async throws {
        if let host = host ?? environment.host("FIRESTORE_EMULATOR_HOST") {
            endpoint = try Self.endpoint(host)
            self.project = project ?? "demo"
            let shown = token ?? "owner"
            tokens = { _ in shown }
        } else {
            endpoint = cloud
            (tokens, self.project) = try await Self.credentials(
                project, environment: environment, token: token)
        }
    }

    /// Returns the tokens of the service account that the environment names, and the project.
    static func credentials(
        _ project: String?, environment: [String: String], token: String?
    ) async throws -> (Tokens, String) {
        if let token {
            guard let project else { throw ValidationError("No project is named: use --project.") }
            return ({ _ in token }, project)
        }
        do throws(GoogleAuthError) {
            let credentials = try await GoogleCredentials.found(in: environment)
            let own: String
            if let project { own = project } else { own = try await credentials.project() }
            return ({ refused in try await credentials.token(replacing: refused) }, own)
        } catch { throw CommandFailure(sentence(error, environment)) }
    }

    private static func sentence(
        _ error: GoogleAuthError, _ environment: [String: String]
    ) -> String {
        guard case .badKey(let detail) = error,
            let path = environment["GOOGLE_APPLICATION_CREDENTIALS"]
        else { return "\(error)" }
        return "The key file \(path) of GOOGLE_APPLICATION_CREDENTIALS cannot be used. \(detail)"
    }

    /// Returns a token for the next call.
    ///
    /// - Throws: `CommandFailure` with a sentence.
    func token() async throws -> String {
        do { return try await tokens(nil) } catch { throw CommandFailure("No token: \(error)") }
    }

    /// The database and its server in a sentence, so that a person sees which one was meant.
    func sentence(database: String) -> String {
        Self.sentence(database: database, project: project, endpoint)
    }

    static func sentence(
        database: String, project: String, _ endpoint: GRPCTransport.Endpoint
    ) -> String {
        let server =
            endpoint.usesTLS
            ? "Google's servers" : "the local server \(endpoint.address)"
        return "This is the database \(database) of the project \(project) on \(server)."
    }

    /// Parses HOST:PORT of a server without TLS, as in `localhost:8080` or `[::1]:8080`.
    ///
    /// - Throws: `ValidationError` with a sentence.
    static func endpoint(_ text: String) throws -> GRPCTransport.Endpoint {
        let colon = text.lastIndex(of: ":") ?? text.endIndex
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard let port = Int(text[colon...].dropFirst()), (1...65_535).contains(port),
            !host.isEmpty, isBracketed || !host.contains(":")
        else { throw ValidationError("\"\(text)\" is not HOST:PORT.") }
        return GRPCTransport.Endpoint(host: String(host), port: port, usesTLS: false)
    }
}

extension GRPCTransport.Endpoint {
    /// The host and the port, with brackets around an IPv6 address.
    var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension [String: String] {
    /// Returns the host that a variable of the environment names; nil if the variable is empty.
    func host(_ variable: String) -> String? {
        self[variable].flatMap { $0.isEmpty ? nil : $0 }
    }
}
