import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkServer
import TidemarkStore

/// The options of the accounts.
struct AccountsOptions: ParsableArguments {
    enum Choice: String, CaseIterable, ExpressibleByArgument { case emulator, secure, off }

    @Option(
        help: """
            How accounts are kept. emulator: unsigned tokens, as Firebase's tools expect of an emulator, \
            on this machine only. secure: signed tokens that Firestore's callers must show, hashed \
            passwords, limits on attempts; administrators show the server's token. off: not at all. \
            When it is not given: emulator on this machine, off for an address that others can reach.
            """)
    var accounts: Choice?

    @Option(
        help: "The port for accounts; 0 picks a free one, as --port 0 and --control-port 0 do too.")
    var accountsPort: Int?

    @Option(help: "The project of accounts whose callers name none.")
    var accountsProject = "demo"

    @Option(
        help: ArgumentHelp(
            """
            A file of the keys that Apple's, Google's and other providers' tokens are signed with, for \
            --accounts secure: {"providers": {NAME: {"issuers": […], "audiences": […], "jwks": …}}, \
            "customTokens": {"jwks": …}}.
            """, valueName: "file"))
    var accountsKeys: String?

    @Option(
        help: """
            How slow new passwords are to check with --accounts secure: scrypt with 2 to the power of \
            this many rounds. 15 is what OWASP asks for, in 32 MiB; 8 to 18.
            """)
    var accountsPasswordCost = 15

    /// - Throws: `ValidationError` with a sentence if options contradict each other.
    func mode(listeningOn host: String, access: AccessToken?) throws -> AccountsSettings.Mode? {
        guard AccountsSettings.isProject(accountsProject) else {
            throw ValidationError(
                "--accounts-project is 1 to 128 letters, digits and any of - _ . :")
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
                    With --accounts secure administrators must show a token: give one with \
                    TIDEMARK_TOKEN, or with --token.
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
                    Others can reach \(host), and unsigned tokens are anybody's: use --accounts secure.
                    """)
            }
            return .emulator
        }
    }

    func server(
        listeningOn host: String, access: AccessToken?, dataDirectory: String?
    ) async throws -> AccountsServer? {
        guard let mode = try mode(listeningOn: host, access: access) else { return nil }
        var settings = AccountsSettings(mode, project: accountsProject)
        if mode == .secure { settings.passwords = .strong(logN: accountsPasswordCost) }
        do {
            return try await AccountsServer(
                settings, dataDirectory: dataDirectory,
                access: access, providers: try await providers())
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
