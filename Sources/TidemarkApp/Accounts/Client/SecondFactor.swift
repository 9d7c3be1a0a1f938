/// The proof that an app, and no script, requests a message. Google requires a different proof for
/// each kind.
public enum PhoneAttestation: Hashable, Sendable {
    /// A token of reCAPTCHA: for the web, and elsewhere as the last resort.
    case recaptcha(token: String)
    /// The message that Apple's push service has delivered to this app.
    case applePush(receipt: String, secret: String)
    /// Play Integrity's token.
    case playIntegrity(token: String)
    /// No proof, for the test numbers of the project.
    case none
}

/// A verification whose code was sent to a phone. It is valid for some minutes.
public struct PhoneVerification: Hashable, Sendable {
    let session: String
}

extension PhoneVerification: CustomStringConvertible, CustomReflectable {
    public var description: String { "PhoneVerification" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A proof that an account requires beside the password.
public struct SecondFactor: Hashable, Sendable, Decodable {
    /// The server's id of the factor.
    public let id: String
    /// The user's name for the factor.
    public let name: String?
    /// The number's last digits, as in `+*******1234`; nil for a factor that is no phone.
    public let phoneNumber: String?

    private enum CodingKeys: String, CodingKey {
        case id = "mfaEnrollmentId"
        case name = "displayName"
        case phoneNumber = "phoneInfo"
    }
}

/// A challenge: the first factor was correct, and the account requires a second.
public struct SecondFactorChallenge: Hashable, Sendable {
    /// The accepted second factors.
    public let factors: [SecondFactor]
    let pending: String
}

extension SecondFactorChallenge: CustomStringConvertible, CustomReflectable {
    public var description: String { "SecondFactorChallenge(\(factors.count) factors)" }
    public var customMirror: Mirror { Mirror(self, children: ["factors": factors]) }
}

// Source: Google's Identity Toolkit, v1 `sendVerificationCode` and `signInWithPhoneNumber`, v2
// `mfaEnrollment` and `mfaSignIn`.

extension AccountsService {
    private struct PhoneFields: Encodable {
        var phoneNumber, recaptchaToken, iosReceipt, iosSecret, playIntegrityToken: String?

        init(_ number: String?, _ attestation: PhoneAttestation) {
            phoneNumber = number
            switch attestation {
            case .recaptcha(let token): recaptchaToken = token
            case .applePush(let receipt, let secret): (iosReceipt, iosSecret) = (receipt, secret)
            case .playIntegrity(let token): playIntegrityToken = token
            case .none: break
            }
        }
    }

    private struct CodeFields: Encodable {
        let sessionInfo, code: String
        var idToken: String?
    }

    private struct FactorFields: Encodable {
        var idToken, mfaPendingCredential, mfaEnrollmentId, displayName: String?
        var phoneEnrollmentInfo, phoneSignInInfo: PhoneFields?
        var phoneVerificationInfo: CodeFields?
    }

    private struct SessionReply: Decodable {
        struct Session: Decodable { let sessionInfo: String? }
        var sessionInfo: String?
        var phoneSessionInfo, phoneResponseInfo: Session?

        func verification() throws(AccountError) -> PhoneVerification {
            let session =
                sessionInfo ?? phoneSessionInfo?.sessionInfo ?? phoneResponseInfo?.sessionInfo
            guard let session else { throw .unreachable("The answer is no session of a phone.") }
            return PhoneVerification(session: session)
        }
    }

    func sendCode(
        to number: String, _ attestation: PhoneAttestation
    ) async throws(AccountError) -> PhoneVerification {
        let reply: SessionReply = try await send(
            .accounts, path: "v1/accounts:sendVerificationCode",
            body: PhoneFields(number, attestation))
        return try reply.verification()
    }

    func signIn(
        _ verification: PhoneVerification, code: String, linkingTo idToken: String? = nil
    ) async throws(AccountError) -> SignIn {
        let reply: Reply = try await send(
            .accounts, path: "v1/accounts:signInWithPhoneNumber",
            body: CodeFields(sessionInfo: verification.session, code: code, idToken: idToken))
        return try reply.signIn(isNew: reply.isNewUser ?? false)
    }

    func startEnrolling(
        _ number: String, attestation: PhoneAttestation, idToken: String
    ) async throws(AccountError) -> PhoneVerification {
        let reply: SessionReply = try await send(
            .accounts, path: "v2/accounts/mfaEnrollment:start",
            body: FactorFields(
                idToken: idToken, phoneEnrollmentInfo: PhoneFields(number, attestation)))
        return try reply.verification()
    }

    func enroll(
        _ verification: PhoneVerification, code: String, name: String?, _ idToken: String
    ) async throws(AccountError) -> SignIn {
        let reply: Reply = try await send(
            .accounts, path: "v2/accounts/mfaEnrollment:finalize",
            body: FactorFields(
                idToken: idToken, displayName: name,
                phoneVerificationInfo: CodeFields(sessionInfo: verification.session, code: code)))
        return try reply.signIn(isNew: false)
    }

    func withdraw(_ factor: String, _ idToken: String) async throws(AccountError) -> SignIn {
        let reply: Reply = try await send(
            .accounts, path: "v2/accounts/mfaEnrollment:withdraw",
            body: FactorFields(idToken: idToken, mfaEnrollmentId: factor))
        return try reply.signIn(isNew: false)
    }

    func startSignIn(
        _ challenge: SecondFactorChallenge, factor: SecondFactor,
        attestation: PhoneAttestation
    ) async throws(AccountError) -> PhoneVerification {
        let reply: SessionReply = try await send(
            .accounts, path: "v2/accounts/mfaSignIn:start",
            body: FactorFields(
                mfaPendingCredential: challenge.pending, mfaEnrollmentId: factor.id,
                phoneSignInInfo: PhoneFields(nil, attestation)))
        return try reply.verification()
    }

    func signIn(
        _ challenge: SecondFactorChallenge, _ verification: PhoneVerification, code: String
    ) async throws(AccountError) -> SignIn {
        let reply: Reply = try await send(
            .accounts, path: "v2/accounts/mfaSignIn:finalize",
            body: FactorFields(
                mfaPendingCredential: challenge.pending,
                phoneVerificationInfo: CodeFields(sessionInfo: verification.session, code: code)))
        return try reply.signIn(isNew: false)
    }
}
