import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkServer
import TidemarkStore

/// The options of the accounts, and of the files beside them.
struct AccountsOptions: ParsableArguments {
    enum Choice: String, CaseIterable, ExpressibleByArgument { case emulator, secure, off }

    @Option(
        help: """
            How the server keeps accounts. emulator: unsigned tokens, as Firebase's tools expect \
            from an emulator; this machine only. secure: signed tokens that callers of Firestore \
            must send, hashed passwords, limits on attempts; administrators send the server's \
            token. off: no accounts. (default: emulator on this machine, off for an address that \
            others can reach)
            """)
    var accounts: Choice?

    @Option(
        help: """
            The port for accounts; 0 picks a free port. (default: a free port if --port or \
            --control-port is 0)
            """)
    var accountsPort: Int?

    @Option(help: "The project of an account call that names no project.")
    var accountsProject = "demo"

    @Option(
        help: ArgumentHelp(
            """
            The bundle identifier to which API keys are restricted. Calls of apps with another \
            identifier, or with none, are refused as in production.
            """, valueName: "identifier"))
    var accountsIosBundle: String?

    @Option(
        help: ArgumentHelp(
            """
            A file with the public keys of Apple, Google and other providers, which check their \
            tokens with --accounts secure: {"providers": {NAME: {"issuers": […], "audiences": \
            […], "jwks": …}}, "customTokens": {"jwks": …}}.
            """, valueName: "file"))
    var accountsKeys: String?

    @Option(
        help: """
            The cost of hashing a new password with --accounts secure: scrypt with 2 to this \
            power rounds. OWASP recommends 15, which takes 32 MiB. 8 to 18.
            """)
    var accountsPasswordCost = 15

    @OptionGroup var files: StorageOptions

    /// - Throws: `ValidationError` with a sentence if options contradict each other.
    func mode(listeningOn host: String, access: AccessToken?) throws -> AccountsSettings.Mode? {
        guard AccountsSettings.isProject(accountsProject) else {
            throw ValidationError(
                "--accounts-project must have 1 to 128 characters: letters, digits and - _ . :")
        }
        if !(8...18).contains(accountsPasswordCost) {
            throw ValidationError("--accounts-password-cost must be between 8 and 18.")
        }
        let isLoopback = AccessOptions.isLoopback(host)
        switch accounts ?? (isLoopback ? .emulator : .off) {
        case .off: return nil
        case .secure:
            if access == nil {
                throw ValidationError(
                    """
                    With --accounts secure, administrators must send a token: set it with \
                    TIDEMARK_TOKEN or --token.
                    """)
            }
            return .secure
        case .emulator:
            if accountsKeys != nil {
                throw ValidationError("--accounts-keys needs --accounts secure.")
            }
            if !isLoopback {
                throw ValidationError(
                    """
                    Others can reach \(host), and anybody can forge an unsigned token: use \
                    --accounts secure.
                    """)
            }
            return .emulator
        }
    }

    func server(
        listeningOn host: String, access: AccessToken?, dataDirectory: String?,
        functions: HTTPFunctionCaller
    ) async throws -> AccountsServer? {
        guard let mode = try mode(listeningOn: host, access: access) else { return nil }
        var settings = AccountsSettings(mode, project: accountsProject)
        settings.iosBundleID = accountsIosBundle
        if mode == .secure { settings.passwords = .strong(logN: accountsPasswordCost) }
        do {
            return try await AccountsServer(
                settings, dataDirectory: dataDirectory,
                access: access, providers: try await providers(), functions: functions)
        } catch {
            let message = (error as? StoreError)?.message ?? "\(error)"
            throw CleanExit.message("tidemark serve: \(message)").asFailure
        }
    }

    private func providers() async throws -> ProviderKeys {
        guard let accountsKeys else { return ProviderKeys() }
        guard let data = FileManager.default.contents(atPath: accountsKeys) else {
            throw ProviderKeysError(message: "There is no file \(accountsKeys).")
        }
        return try await ProviderKeys(json: data)
    }
}
