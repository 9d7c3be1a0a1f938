/// A second factor of an account: an app that makes one-time passwords. Times are in milliseconds
/// since 1970.
struct SecondFactor: Hashable, Sendable, Codable {
    /// The maximum number of factors of an account. Source: Identity Platform, "Quotas and limits".
    static let maxPerAccount = 5

    let id: String
    /// The user's name for the factor.
    let name: String?
    /// The secret, in base32.
    let secret: String
    let enrolledAt: Int64
    /// The step of the last accepted code, which counts no more.
    var usedStep: Int64?

    /// Returns the form in `mfaInfo`, without the secret.
    var json: JSONTree {
        var fields: [String: JSONTree] = [
            "mfaEnrollmentId": .text(id), "totpInfo": .object([:]),
            "enrolledAt": .text(UTCText.text(milliseconds: enrolledAt)),
        ]
        if let name { fields["displayName"] = .text(name) }
        return .object(fields)
    }
}

/// The settings of a project for second factors.
struct FactorSettings: Hashable, Sendable {
    /// True if users may enrol a factor. Factors that exist are asked for in any case.
    var isEnabled = true
    /// The number of steps before and after the present one whose codes count too. Source: Identity
    /// Platform, `adjacentIntervals`: 0 to 10, 5 by default.
    var neighbours: Int64 = 5

    init() {}

    /// - Throws: `INVALID_ARGUMENT` if there is no provider for apps, or its interval is invalid.
    init(_ mfa: [String: JSONTree]) throws(AccountRefusal) {
        let fields = AccountFields(mfa)
        for entry in try fields.list("providerConfigs", upTo: 10) {
            let provider = AccountFields(entry.fields ?? [:])
            guard let app = try provider.object("totpProviderConfig") else { continue }
            isEnabled = try provider.filled("state") == "ENABLED"
            guard let steps = try AccountFields(app).integer("adjacentIntervals") else { return }
            guard (0...10).contains(steps) else {
                throw .invalidArgument("adjacentIntervals must be between 0 and 10.")
            }
            neighbours = steps
            return
        }
        throw .invalidArgument("mfa must have a provider with totpProviderConfig.")
    }

    var json: JSONTree {
        .object([
            "providerConfigs": .list([
                .object([
                    "state": .text(isEnabled ? "ENABLED" : "DISABLED"),
                    "totpProviderConfig": .object(["adjacentIntervals": .integer(neighbours)]),
                ])
            ])
        ])
    }
}

/// The state of an enrolment or of a sign-in between its two calls.
struct FactorSession: Hashable, Sendable {
    var row: Int64 = 0
    /// The digest of the session's name, which only the client has.
    var digest: [UInt8]
    /// The row of the account.
    var account: Int64
    /// The secret of a new factor, in base32; nil for a sign-in.
    var secret: String?
    /// The provider of the first factor; empty for an enrolment.
    var provider = ""
    /// The number of wrong codes so far.
    var failures: Int64 = 0
    /// In milliseconds since 1970.
    var createdAt: Int64
}
