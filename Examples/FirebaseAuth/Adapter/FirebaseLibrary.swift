#if canImport(FirebaseAuth)
    import FirebaseAuth
    import Foundation
    import TidemarkApp

    /// The user of FirebaseAuth, for a `LibraryIdentity`. Copy this file into an app that keeps
    /// FirebaseAuth.
    ///
    /// ```swift
    /// FirebaseApp.configure()
    /// let identity = LibraryIdentity(FirebaseLibrary())
    /// ```
    // @unchecked: Firebase documents that any thread can use `Auth`.
    struct FirebaseLibrary: SignInLibrary, @unchecked Sendable {
        private let auth: Auth

        /// - Parameter auth: The instance of FirebaseAuth, after `FirebaseApp.configure()`.
        init(_ auth: Auth = .auth()) { self.auth = auth }

        var user: String? { auth.currentUser?.uid }

        var changes: AsyncStream<Void> {
            AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
                let listener = StateListener(auth) { input.yield() }
                input.onTermination = { _ in listener.end() }
            }
        }

        func idToken(forcingRefresh isForced: Bool) async throws -> String? {
            try await auth.currentUser?.getIDToken(forcingRefresh: isForced)
        }

        func signOut() async throws { try auth.signOut() }

        func deleteAccount() async throws { try await current().delete() }

        func signInAge() async throws -> Duration? {
            let token = try await current().getIDTokenResult(forcingRefresh: true)
            return .seconds(token.issuedAtDate.timeIntervalSince(token.authDate))
        }

        func signIn(_ request: SignInRequest) async throws -> (user: String, isNew: Bool) {
            let result: AuthDataResult
            switch request.proof {
            case .password(let email, let password):
                result = try await signIn(email, password, mayCreate: request.mayCreate)
            case .provider(let credential): result = try await signIn(credential)
            case .customToken(let token):
                result = try await auth.signIn(withCustomToken: token)
            }
            return (result.user.uid, result.additionalUserInfo?.isNewUser ?? false)
        }

        /// Creates the account. A taken address can belong to this account, if the answer to an
        /// earlier request was lost.
        private func signIn(
            _ email: String, _ password: String, mayCreate: Bool
        ) async throws -> AuthDataResult {
            if mayCreate {
                do { return try await auth.createUser(withEmail: email, password: password) } catch
                {
                    guard Self.code(of: error) == .emailAlreadyInUse else { throw error }
                }
            }
            return try await auth.signIn(withEmail: email, password: password)
        }

        private func signIn(_ credential: ProviderCredential) async throws -> AuthDataResult {
            do { return try await auth.signIn(with: Self.credential(credential)) } catch {
                // The same code means a wrong password elsewhere.
                guard Self.code(of: error) == .invalidCredential else { throw error }
                throw AccountError.providerRefused((error as NSError).localizedDescription)
            }
        }

        func reauthenticate(with credential: ProviderCredential) async throws {
            _ = try await current().reauthenticate(with: Self.credential(credential))
        }

        func revokeApple(authorizationCode: String) async throws {
            try await auth.revokeToken(withAuthorizationCode: authorizationCode)
        }

        private func current() throws -> User {
            guard let user = auth.currentUser else { throw AccountError.signedOut }
            return user
        }

        private static func credential(_ credential: ProviderCredential) -> AuthCredential {
            if credential.provider == "apple.com" {
                return OAuthProvider.appleCredential(
                    withIDToken: credential.idToken, rawNonce: credential.nonce, fullName: nil)
            }
            return OAuthProvider.credential(
                providerID: .custom(credential.provider), idToken: credential.idToken,
                rawNonce: credential.nonce ?? "")
        }

        // MARK: Errors

        private static func code(of error: any Error) -> AuthErrorCode? {
            let error = error as NSError
            return error.domain == "FIRAuthErrorDomain" ? AuthErrorCode(rawValue: error.code) : nil
        }

        func accountError(_ error: any Error) -> AccountError {
            if let error = error as? AccountError { return error }
            let detail = (error as NSError).localizedDescription
            return switch Self.code(of: error) {
            case .wrongPassword, .invalidCredential, .userMismatch: .wrongCredentials
            case .emailAlreadyInUse: .addressTaken
            case .invalidEmail, .missingEmail: .addressInvalid
            case .weakPassword: .passwordWeak(detail)
            case .userDisabled: .accountDisabled
            case .userNotFound: .accountGone
            case .userTokenExpired, .invalidUserToken: .sessionExpired
            case .requiresRecentLogin: .needsRecentSignIn
            case .credentialAlreadyInUse, .providerAlreadyLinked,
                .accountExistsWithDifferentCredential:
                .alreadyLinked
            case .invalidCustomToken, .customTokenMismatch, .missingOrInvalidNonce:
                .providerRefused(detail)
            case .tooManyRequests, .quotaExceeded: .tooManyAttempts
            case .operationNotAllowed, .adminRestrictedOperation: .notAllowed
            case .invalidAPIKey, .appNotAuthorized: .keyRefused(detail)
            case .keychainError: .storage(.failed(detail))
            case .networkError, .none: .unreachable(detail)
            default: .refused(detail)
            }
        }
    }

    /// Listens for changes of FirebaseAuth's user.
    // @unchecked: the handle is only returned to `Auth`, which any thread may call.
    private final class StateListener: @unchecked Sendable {
        private let auth: Auth
        private let handle: any NSObjectProtocol

        init(_ auth: Auth, _ notify: @escaping @Sendable () -> Void) {
            self.auth = auth
            handle = auth.addStateDidChangeListener { _, _ in notify() }
        }

        func end() { auth.removeStateDidChangeListener(handle) }
    }
#endif
