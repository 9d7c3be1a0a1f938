#if canImport(AuthenticationServices)
    import AuthenticationServices
    import Foundation

    /// The system's information about Apple sign-ins: ``StackSettings/appleCredentials``.
    public struct SystemAppleCredentials: AppleCredentials {
        public init() {}

        public func state(of user: String) async -> AppleCredentialState? {
            await withCheckedContinuation { continuation in
                ASAuthorizationAppleIDProvider().getCredentialState(forUserID: user) {
                    state, error in
                    continuation.resume(returning: error == nil ? Self.state(state) : nil)
                }
            }
        }

        private static func state(
            _ state: ASAuthorizationAppleIDProvider.CredentialState
        ) -> AppleCredentialState? {
            switch state {
            case .authorized: .authorized
            case .revoked: .revoked
            case .notFound: .notFound
            // Later states must not end a session, and neither does a transfer.
            default: .transferred
            }
        }

        public var revocations: AsyncStream<Void> {
            AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
                let observer = RevocationObserver { input.yield() }
                input.onTermination = { _ in observer.end() }
            }
        }
    }

    // @unchecked: the token is only returned to the centre, which any thread may call.
    private final class RevocationObserver: @unchecked Sendable {
        private let token: any NSObjectProtocol

        init(_ notify: @escaping @Sendable () -> Void) {
            token = NotificationCenter.default.addObserver(
                forName: ASAuthorizationAppleIDProvider.credentialRevokedNotification, object: nil,
                queue: nil
            ) { _ in notify() }
        }

        func end() { NotificationCenter.default.removeObserver(token) }
    }
#endif
