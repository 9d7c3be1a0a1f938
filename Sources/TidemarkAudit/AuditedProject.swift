import Foundation
import TidemarkModel
import TidemarkWire

/// A project whose accounts and profiles are compared: the connections of an ``OrphanAudit``.
///
/// ```swift
/// let project = try AuditedProject("my-app") { refused in
///     try await credentials.token(replacing: refused)
/// }
/// let report = try await project.audit(report: "admin/orphanedUsers").run()
/// await project.close()
/// ```
public struct AuditedProject: Sendable {
    /// The addresses of the two services.
    public enum Services: Hashable, Sendable {
        /// Google's services over TLS.
        case google
        /// Local servers without TLS, each as `HOST:PORT`.
        case local(firestore: String, accounts: String)
    }

    private let id: String
    private let databaseID: String
    private let accounts: AccountDirectory
    private let tokens: AccountDirectory.Tokens
    private let transport: GRPCTransport

    /// Connects at the first call.
    ///
    /// - Parameters:
    ///   - id: The project's id.
    ///   - database: The id of the database with the profiles.
    ///   - services: The services of the project.
    ///   - tokens: Returns tokens of a service account with the roles `roles/datastore.user` and
    ///     `roles/firebaseauth.viewer`; `owner` for a local server.
    /// - Throws: ``AuditError`` if an address is not `HOST:PORT`.
    public init(
        _ id: String, database: String = "(default)", at services: Services = .google,
        tokens: @escaping AccountDirectory.Tokens
    ) throws(AuditError) {
        let endpoint: GRPCTransport.Endpoint
        switch services {
        case .google:
            endpoint = GRPCTransport.Endpoint(
                host: "firestore.googleapis.com", port: 443, usesTLS: true)
            accounts = AccountDirectory(project: id, tokens: tokens)
        case .local(let firestore, let host):
            endpoint = try Self.endpoint(firestore)
            _ = try Self.endpoint(host)
            accounts = AccountDirectory(
                project: id, base: "http://\(host)/identitytoolkit.googleapis.com",
                tokens: tokens)
        }
        self.id = id
        databaseID = database
        self.tokens = tokens
        transport = GRPCTransport(endpoint)
    }

    private static func endpoint(_ host: String) throws(AuditError) -> GRPCTransport.Endpoint {
        guard let colon = host.lastIndex(of: ":"), colon > host.startIndex,
            let port = Int(host[host.index(after: colon)...]), (1...65_535).contains(port)
        else { throw AuditError("\(host) is not HOST:PORT.") }
        return GRPCTransport.Endpoint(host: String(host[..<colon]), port: port, usesTLS: false)
    }

    /// Returns an audit of the project. See ``OrphanAudit`` for what a run costs.
    ///
    /// - Parameters:
    ///   - profiles: The path of the collection with one profile for each account.
    ///   - report: The path of the document to which the result is written; nil for none.
    ///   - grace: The minimum age of an account to count, in whole seconds.
    /// - Throws: ``AuditError`` if the project, the database or a path is no valid name.
    public func audit(
        profiles: String = "users", report: String? = nil, grace: Duration = .seconds(600)
    ) throws(AuditError) -> OrphanAudit {
        do throws(InvalidPath) {
            return OrphanAudit(
                accounts: accounts,
                profiles: ProfileDirectory(
                    transport, database: try DatabaseID(project: id, database: databaseID),
                    collection: try CollectionPath(profiles), tokens: tokens),
                report: try report.map { text throws(InvalidPath) in try DocumentPath(text) },
                grace: grace,
                now: {
                    Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
                })
        } catch { throw AuditError(error.message) }
    }

    /// Closes the connections, and ends their calls.
    public func close() async { await transport.close() }
}
