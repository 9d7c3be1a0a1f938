#if canImport(AuthenticationServices)
    public import AuthenticationServices
    import Foundation

    /// *Sign in with Apple*: prepares the system's request, and reads its answer.
    ///
    /// Serves a `SignInWithAppleButton`, or the app's own `ASAuthorizationController`. Each button
    /// needs its own instance.
    @MainActor
    public final class AppleSignIn {
        private var nonce: AppleNonce?

        public nonisolated init() {}

        /// Asks for name and address, with a new nonce.
        public func prepare(_ request: ASAuthorizationAppleIDRequest) {
            let nonce = AppleNonce()
            self.nonce = nonce
            request.requestedScopes = [.fullName, .email]
            request.nonce = nonce.hashed
        }

        /// Returns the user's identity from the answer to the last prepared request.
        public func identity(
            _ result: Result<ASAuthorization, any Error>
        ) throws(AppleSignInError) -> AppleIdentity {
            guard let nonce = nonce.take() else { throw .invalidAnswer }
            switch result {
            case .failure(let error):
                if (error as? ASAuthorizationError)?.code == .canceled { throw .cancelled }
                throw .failed("\(error)")
            case .success(let authorization):
                guard let credential = authorization.credential as? ASAuthorizationAppleIDCredential
                else { throw .invalidAnswer }
                return try AppleIdentity(AppleAnswer(credential), nonce)
            }
        }
    }

    extension AppleAnswer {
        fileprivate init(_ credential: ASAuthorizationAppleIDCredential) {
            user = credential.user
            identityToken = credential.identityToken
            authorizationCode = credential.authorizationCode
            givenName = credential.fullName?.givenName
            familyName = credential.fullName?.familyName
            email = credential.email
        }
    }
#endif
