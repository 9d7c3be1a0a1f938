// Phone numbers, for the sign-in and as the second factor of an account.

extension Accounts {
    /// Sends a code to a phone, for ``signIn(with:code:)`` or ``link(with:code:)``.
    ///
    /// - Parameters:
    ///   - number: The number with its country code, as in `+41441234567`.
    ///   - attestation: The proof that an app asks, and not a program that sends messages at the
    ///     cost of others.
    /// - Throws: ``AccountError/phoneInvalid``, ``AccountError/tooManyAttempts`` and others.
    public func sendCode(
        to number: String, attestation: PhoneAttestation
    ) async throws(AccountError) -> PhoneVerification {
        try await service.sendCode(to: number, attestation)
    }

    /// Signs in with the received code. Creates an account if the number has none.
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

    /// Sends a code to the phone that will be the account's second factor. The account needs a
    /// verified address and a recent sign-in.
    public func startEnrolling(
        phone number: String, attestation: PhoneAttestation
    ) async throws(AccountError) -> PhoneVerification {
        try await service.startEnrolling(
            number, attestation: attestation, idToken: try await current().idToken)
    }

    /// Adds the phone as a second factor: the account requires it from now on.
    ///
    /// - Parameters:
    ///   - verification: The result of ``startEnrolling(phone:attestation:)``.
    ///   - code: The received digits.
    ///   - name: The user's name for the phone.
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

    /// Removes a second factor: the account no longer requires it.
    public func remove(_ factor: SecondFactor) async throws(AccountError) {
        let session = try await current()
        try await keep(
            try await service.withdraw(factor.id, session.idToken), of: session.user)
    }

    /// Sends a code to a phone of a challenge, which a sign-in has thrown:
    /// ``AccountError/needsSecondFactor(_:)``.
    public func sendCode(
        to factor: SecondFactor, of challenge: SecondFactorChallenge,
        attestation: PhoneAttestation
    ) async throws(AccountError) -> PhoneVerification {
        try await service.startSignIn(challenge, factor: factor, attestation: attestation)
    }

    /// Completes a sign-in that required a second factor.
    @discardableResult
    public func signIn(
        _ challenge: SecondFactorChallenge, with verification: PhoneVerification, code: String
    ) async throws(AccountError) -> UserID {
        let signIn = try await service.signIn(challenge, verification, code: code)
        try await begin(signIn)
        return signIn.user
    }

    /// Keeps new tokens of the signed-in account. Throws for the tokens of another account.
    private func keep(
        _ signIn: AccountsService.SignIn, of user: UserID
    ) async throws(AccountError) {
        guard signIn.user == user else { throw .wrongCredentials }
        try await begin(signIn)
    }
}
