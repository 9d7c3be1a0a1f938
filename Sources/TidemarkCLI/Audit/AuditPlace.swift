import ArgumentParser
import Foundation
import TidemarkAudit
import TidemarkHTTP
import TidemarkWire

/// The audited services: Google's, or those of a local server.
struct AuditPlace: Sendable {
    let firestore: GRPCTransport.Endpoint
    let accounts: AccountDirectory
    let project: String
    let tokens: AccountDirectory.Tokens

    /// Two services over TLS: Google's, or the replacements of a test.
    struct Services: Sendable {
        static let google = Services(
            firestore: FirestorePlace.google, accounts: AccountDirectory.cloud)

        let firestore: GRPCTransport.Endpoint
        /// The address of the accounts, without a slash at its end.
        let accounts: String
    }

    /// Uses the options, then the environment, and the cloud if neither names a host.
    ///
    /// - Throws: `ValidationError` with a sentence.
    init(
        host: String?, accountsHost: String?, project: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        token: String? = TokenVariable.value, cloud: Services = .google
    ) async throws {
        let host = host ?? environment.host("FIRESTORE_EMULATOR_HOST")
        let accountsHost = accountsHost ?? environment.host("FIREBASE_AUTH_EMULATOR_HOST")
        switch (host, accountsHost) {
        case (let host?, let accountsHost?):
            firestore = try FirestorePlace.endpoint(host)
            self.project = project ?? "demo"
            let shown = token ?? "owner"
            tokens = { _ in shown }
            accounts = AccountDirectory(project: self.project, host: accountsHost, token: shown)
        case (nil, nil):
            firestore = cloud.firestore
            (tokens, self.project) = try await FirestorePlace.credentials(
                project, environment: environment, token: token)
            accounts = AccountDirectory(
                project: self.project, base: cloud.accounts, tokens: tokens)
        case (nil, _?):
            throw ValidationError(
                "No Firestore is named: use --host HOST:PORT, or FIRESTORE_EMULATOR_HOST.")
        case (_?, nil):
            throw ValidationError(
                """
                No accounts server is named: use --accounts-host HOST:PORT, or \
                FIREBASE_AUTH_EMULATOR_HOST.
                """)
        }
    }

    /// The database and its server in a sentence.
    func sentence(database: String) -> String {
        FirestorePlace.sentence(database: database, project: project, firestore)
    }
}
