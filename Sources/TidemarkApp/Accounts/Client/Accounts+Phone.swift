// Phone numbers: as the way to sign in, and as the second factor of an account.

extension Accounts {
    /// Has a code sent to a phone, for ``signIn(with:code:)`` or ``link(with:code:)``.
    ///
    /// - Parameters:
    ///   - number: With its country, as in `+41441234567`.
    ///   - attestation: What shows that an app asks, and no program that sends messages at others' cost.
    /// - Throws: ``AccountError/phoneInvalid``, ``AccountError/tooManyAttempts`` and others.
    public func sendCode(
        to number: String, attestation: PhoneAttestation
    ) async throws(AccountError) -> PhoneVerification {
        try await service.sendCode(to: number, attestation)
    }

    /// Signs in with the code that came; makes an account where the number has none.
    ///
    /// - Throws: ``AccountError/wrongCode`` and ``AccountError/codeExpired`` among others.
    @discardableResult
    public func signIn(
        with verification: PhoneVerification, code: String
    ) async throws(AccountError) -> UserID {
        let signIn = try await service.signIn(verification, code: code)
        try await begin(signIn)
        return signIn.user
    }

    /// Adds the phone's number to the account as a way to sign in.
    public func link(
        with verification: PhoneVerification, code: String
    ) async throws(AccountError) {
        let session = try await current()
        try await keep(
            try await service.signIn(verification, code: code, linkingTo: session.idToken),
            of: session.user)
    }

    // MARK: A second factor

    /// Has a code sent to the phone that is to become the account's second factor. The account needs an
    /// address that is verified, and a sign-in that is recent.
    public func startEnrolling(
        phone number: String, attestation: PhoneAttestation
    ) async throws(AccountError) -> PhoneVerification {
        try await service.startEnrolling(number, attestation, try await current().idToken)
    }

    /// From now on, the account asks for the phone too.
    ///
    /// - Parameters:
    ///   - verification: What ``startEnrolling(phone:attestation:)`` returned.
    ///   - code: The digits that came.
    ///   - name: What the person calls the phone.
    public func enroll(
        _ verification: PhoneVerification, code: String, named name: String? = nil
    ) async throws(AccountError) {
        let session = try await current()
        try await keep(
            try await service.enroll(verification, code: code, name: name, session.idToken),
            of: session.user)
    }

    /// The account's second factors.
    public func secondFactors() async throws(AccountError) -> [SecondFactor] {
        try await details().mfaInfo ?? []
    }

    /// The account asks for it no more.
    public func remove(_ factor: SecondFactor) async throws(AccountError) {
        let session = try await current()
        try await keep(
            try await service.withdraw(factor.id, session.idToken), of: session.user)
    }

    /// Has a code sent to a phone of a challenge, which a sign-in has thrown:
    /// ``AccountError/needsSecondFactor(_:)``.
    public func sendCode(
        to factor: SecondFactor, of challenge: SecondFactorChallenge,
        attestation: PhoneAttestation
    ) async throws(AccountError) -> PhoneVerification {
        try await service.startSignIn(challenge, factor, attestation)
    }

    /// Ends a sign-in that asked for a second factor.
    @discardableResult
    public func signIn(
        _ challenge: SecondFactorChallenge, with verification: PhoneVerification, code: String
    ) async throws(AccountError) -> UserID {
        let signIn = try await service.signIn(challenge, verification, code: code)
        try await begin(signIn)
        return signIn.user
    }

    /// New tokens of the account that is signed in, and of no other.
    private func keep(
        _ signIn: AccountsService.SignIn, of user: UserID
    ) async throws(AccountError) {
        guard signIn.user == user else { throw .wrongCredentials }
        try await begin(signIn)
    }
}
