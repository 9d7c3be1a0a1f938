import ArgumentParser
import TidemarkModel
import TidemarkServer

/// Who may call a server: whoever shows the token of the environment. There is no option for it,
/// because others on this machine can see a command line.
enum ServerAccess {
    /// - Throws: What is no token, and an address that others can reach without one, in a sentence.
    static func token(listeningOn host: String) throws -> AccessToken? {
        guard let text = TokenVariable.value else {
            if isLoopback(host) { return nil }
            throw ValidationError(
                """
                Others can reach \(host), so callers must show a token: give one with TIDEMARK_TOKEN.
                """)
        }
        guard let access = AccessToken(text) else {
            throw ValidationError(
                "A token is 1 to \(AccessToken.maxBytes) visible ASCII characters, without spaces.")
        }
        return access
    }

    static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// What goes wrong on order.
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

    /// Nil for no gate.
    func profile() throws -> NetworkProfile? {
        guard let network else { return nil }
        guard let profile = NetworkProfile(rawValue: network) else {
            let names = NetworkProfile.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--network must be one of \(names).")
        }
        return profile
    }
}

/// What the meter assumes.
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
