import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkServer
import TidemarkWire

/// The options for access to a server.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The bearer token that every call must send. Others on this machine can briefly see \
            the command line: prefer the variable TIDEMARK_TOKEN.
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
                Others can reach \(host), so callers must send a token: set it with \
                TIDEMARK_TOKEN or --token.
                """)
        }
        guard let access = AccessToken(text) else {
            throw ValidationError(
                """
                A token must have 1 to \(AccessToken.maxBytes) visible ASCII characters, \
                without spaces.
                """)
        }
        if !Self.isLoopback(host), text.utf8.count < Self.leastBytes {
            throw ValidationError(
                """
                Others can reach \(host) and could guess a token of fewer than \
                \(Self.leastBytes) characters: use one of openssl rand -hex 16.
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
            A host name under which the control port and the accounts accept calls, in addition \
            to this machine's own names and --host. Repeatable. Calls to other names are \
            refused, because a web page can point its own name at this machine.
            """, valueName: "name"))
    var hosts: [String] = []

    @Option(
        name: .customLong("allow-origin"),
        help: ArgumentHelp(
            """
            An origin whose pages may call the control port and the accounts, as in \
            https://app.example. Repeatable. Pages of this machine always may.
            """, valueName: "origin"))
    var origins: [String] = []

    @Option(
        help: ArgumentHelp(
            "For tests: multiplies the times that slow connections have, from 0.001 to 1.",
            visibility: .hidden))
    var patience = 1.0

    func validate() throws {
        guard 0.001...1 ~= patience else { throw ValidationError("--patience is 0.001 to 1.") }
    }

    /// Shortens the times of slow connections of this process.
    func shortenPatience() { PatienceScale.set(patience) }

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
            A fault to simulate, as in rpc=Commit,share=0.3,error=UNAVAILABLE. Repeatable. \
            \(FaultRule.grammar).
            """, valueName: "rule"))
    var faults: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            The network to simulate in front of the ports for documents and for files: \
            \(NetworkProfile.allCases.map(\.rawValue).joined(separator: ", ")). With healthy nothing fails, and every other network can be chosen while the \
            server runs. Without the option, only networks that affect whole calls can be chosen \
            later.
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
            The number of billed reads in a case that Google's documentation leaves open, as in \
            unchanged-resume=1. Repeatable. Defaults: \
            \(Assumption.allCases.map(\.summary).joined(separator: ", ")).
            """, valueName: "name=number"))
    var assumptions: [String] = []

    enum Assumption: String, CaseIterable {
        case unchangedResume = "unchanged-resume"
        case missingDocument = "missing-document"
        case repeatedLookup = "repeated-lookup"
        case verify
        case missingDocumentUnits = "missing-document-units"
        case rulesReadUnits = "rules-read-units"
        case unchangedResumeUnits = "unchanged-resume-units"

        var property: WritableKeyPath<Billing, Int> {
            switch self {
            case .unchangedResume: \.unchangedResumeReads
            case .missingDocument: \.missingDocumentReads
            case .repeatedLookup: \.repeatedLookupReads
            case .verify: \.verifyReads
            case .missingDocumentUnits: \.units.missingDocumentUnits
            case .rulesReadUnits: \.units.rulesReadUnits
            case .unchangedResumeUnits: \.units.unchangedResumeUnits
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
                    """
                    --billing must be NAME=READS, with 0 to 1000 reads and one of the names \
                    \(names).
                    """)
            }
            billing[keyPath: assumption.property] = reads
        }
        return billing
    }
}
