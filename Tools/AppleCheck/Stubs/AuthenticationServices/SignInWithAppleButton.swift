public import SwiftUI

/// https://developer.apple.com/documentation/authenticationservices/signinwithapplebutton
public struct SignInWithAppleButton: View {
    /// https://developer.apple.com/documentation/authenticationservices/signinwithapplebutton/label
    public struct Label: Sendable {
        public static let signIn = Label()
        public static let `continue` = Label()
        public static let signUp = Label()
    }

    /// https://developer.apple.com/documentation/authenticationservices/signinwithapplebutton/
    /// init(_:onrequest:oncompletion:)
    @MainActor @preconcurrency public init(
        _ label: SignInWithAppleButton.Label = .signIn,
        onRequest: @escaping (ASAuthorizationAppleIDRequest) -> Void,
        onCompletion: @escaping ((Result<ASAuthorization, any Error>) -> Void)
    ) {}

    public var body: Never { fatalError("not drawn by this stub") }
}
