public import TidemarkResilience

extension AccountError: RetryClassifiable {
    /// The classification for a retry. A missing answer is no refusal: the server may have created
    /// the account.
    public var failure: Failure {
        switch self {
        case .unreachable: Failure(.transient)
        case .storage: Failure(.transient, hadNoEffect: true)
        case .tooManyAttempts: Failure(.throttled, hadNoEffect: true)
        case .refused: Failure(.unknown, hadNoEffect: true)
        case .sessionExpired, .needsRecentSignIn, .signedOut:
            Failure(.authentication, hadNoEffect: true)
        case .wrongCredentials, .addressTaken, .addressInvalid, .passwordWeak, .accountDisabled,
            .accountGone, .alreadyLinked, .providerRefused, .notAllowed, .keyRefused,
            .needsSecondFactor, .phoneInvalid, .wrongCode, .codeExpired:
            Failure(.permanent)
        }
    }
}

extension AccountsUnreachable: RetryClassifiable {
    public var failure: Failure { Failure(.transient, hadNoEffect: hadNoEffect) }
}
