import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

/// The options for access to a server.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            What every call must show as a bearer token. Others on this machine can see a command \
            line until the server has taken it off: the variable TIDEMARK_TOKEN is the better place.
            """, valueName: "token"))
    var token: String?

    /// The token of the option or else of the variable; nil for none.
    var text: String? { token ?? TokenVariable.value }

    /// - Throws: `ValidationError` with a sentence if the token is invalid, or if an address that
    ///   others can reach has none.
    func access(listeningOn host: String) throws -> AccessToken? {
        guard let text else {
            if Self.isLoopback(host) { return nil }
            throw ValidationError(
                """
                Others can reach \(host), so callers must show a token: give one with TIDEMARK_TOKEN, \
                or with --token.
                """)
        }
        guard let access = AccessToken(text) else {
            throw ValidationError(
                "A token is 1 to \(AccessToken.maxBytes) visible ASCII characters, without spaces.")
        }
        if !Self.isLoopback(host), text.utf8.count < Self.leastBytes {
            throw ValidationError(
                """
                Others can reach \(host), and a token of fewer than \(Self.leastBytes) characters can \
                be guessed: take one as openssl rand -hex 16 makes it.
                """)
        }
        return access
    }

    /// The minimum length of a token in bytes, for an address that others can reach.
    private static let leastBytes = 16

    /// Overwrites the token on this process's command line, which others on the machine can see.
    static func takeOffCommandLine() {
        // Read the arguments first: Swift copies them at the first access.
        _ = CommandLine.arguments
        let prefix = "--token="
        var isNext = false
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { return }
            let length = strlen(argument)
            if isNext {
                memset(argument, CInt(UInt8(ascii: "x")), length)
            } else if String(cString: argument).hasPrefix(prefix) {
                let value = prefix.utf8.count
                memset(argument + value, CInt(UInt8(ascii: "x")), length - value)
            }
            isNext = String(cString: argument) == "--token"
        }
    }

    static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// The options for access to the control endpoint and the accounts from a browser.
struct WebOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-host"),
        help: ArgumentHelp(
            """
            A name by which the control endpoint and the accounts are called, beside this machine's \
            own and --host; may be given again. Others are refused: a web page can point a name of \
            its own at this machine.
            """, valueName: "name"))
    var hosts: [String] = []

    @Option(
        name: .customLong("allow-origin"),
        help: ArgumentHelp(
            """
            An origin whose pages may call the control endpoint and the accounts, as in \
            https://app.example; may be given again. Pages of this machine may.
            """, valueName: "origin"))
    var origins: [String] = []

    /// Returns the names and addresses for a certificate, besides those of loopback.
    func names(listeningOn host: String) -> [String] {
        let isAnywhere = AccessOptions.isLoopback(host) || ["0.0.0.0", "::"].contains(host)
        return ((isAnywhere ? [] : [host]) + hosts).map { name in
            name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name
        }
    }

    /// - Throws: `ValidationError` with a sentence if a name or an origin is invalid.
    func policy(listeningOn host: String) throws -> WebPolicy {
        do throws(WebPolicyError) {
            return try WebPolicy(listeningOn: host, names: hosts, pages: origins)
        } catch { throw ValidationError(error.message) }
    }
}

/// The options for faults on order.
struct FaultOptions: ParsableArguments {
    @Option(
        name: .customLong("fault"),
        help: ArgumentHelp(
            """
            Something that is to go wrong, as in rpc=Commit,share=0.3,error=UNAVAILABLE; may be given \
            again. \(FaultRule.grammar).
            """, valueName: "rule"))
    var faults: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            The network to play: \(NetworkProfile.allCases.map(\.rawValue).joined(separator: ", ")). \
            With healthy nothing goes wrong until another is chosen at run time; without the option \
            only those that concern calls can be.
            """, valueName: "name"))
    var network: String?

    func rules() throws -> [FaultRule] {
        do { return try faults.map { try FaultRule($0) } } catch let error as FaultRuleError {
            throw ValidationError(error.message)
        }
    }

    /// Returns the network; nil for a server without a gate.
    func profile() throws -> NetworkProfile? {
        guard let network else { return nil }
        guard let profile = NetworkProfile(rawValue: network) else {
            let names = NetworkProfile.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--network must be one of \(names).")
        }
        return profile
    }
}

/// The options for the meter's assumptions.
struct BillingOptions: ParsableArguments {
    @Option(
        name: .customLong("billing"),
        help: ArgumentHelp(
            """
            What the meter assumes where Google's documentation says nothing, as in \
            unchanged-resume=1; may be given again. In reads: \
            \(Assumption.allCases.map(\.summary).joined(separator: ", ")).
            """, valueName: "name=number"))
    var assumptions: [String] = []

    enum Assumption: String, CaseIterable {
        case unchangedResume = "unchanged-resume"
        case missingDocument = "missing-document"
        case repeatedLookup = "repeated-lookup"
        case verify

        var property: WritableKeyPath<Billing, Int> {
            switch self {
            case .unchangedResume: \.unchangedResumeReads
            case .missingDocument: \.missingDocumentReads
            case .repeatedLookup: \.repeatedLookupReads
            case .verify: \.verifyReads
            }
        }

        var summary: String { "\(rawValue)=\(Billing()[keyPath: property])" }
    }

    func billing() throws -> Billing {
        var billing = Billing()
        for text in assumptions {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let assumption = Assumption(rawValue: parts[0]),
                let reads = Int(parts[1]), (0...1_000).contains(reads)
            else {
                let names = Assumption.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError(
                    "--billing takes NAME=READS with 0 to 1000 reads and one of \(names).")
            }
            billing[keyPath: assumption.property] = reads
        }
        return billing
    }
}
