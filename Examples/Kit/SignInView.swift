#if canImport(SwiftUI)
    public import SwiftUI
    public import TidemarkApp

    /// Asks for an e-mail address and a password, and then shows the app of the signed-in user.
    public struct SignInView<Content: View>: View {
        private let title: LocalizedStringKey
        private let content: (UserID) -> Content
        @State private var model: SignInModel
        @State private var email = ""
        @State private var password = ""

        /// - Parameters:
        ///   - title: The name of the app.
        ///   - stack: The app's data.
        ///   - content: The app of a user.
        public init(
            _ title: LocalizedStringKey, _ stack: TidemarkStack,
            @ViewBuilder content: @escaping (UserID) -> Content
        ) {
            self.title = title
            self.content = content
            _model = State(initialValue: SignInModel(stack))
        }

        public var body: some View {
            switch model.state {
            case .opening: ProgressView()
            case .signedIn(let user): content(user)
            case .signedOut, .asking: form
            }
        }

        private var form: some View {
            NavigationStack {
                Form {
                    if let problem = model.problem { Text(problem).foregroundStyle(.red) }
                    if model.isUnreadable {
                        Button("Try again") { Task { await model.tryAgain() } }
                    }
                    TextField("Email", text: $email)
                    SecureField("Password", text: $password)
                    Button("Sign in") {
                        Task { await model.signIn(email: email, password: password) }
                    }
                    Button("Create an account") {
                        Task { await model.signUp(email: email, password: password) }
                    }
                }
                .disabled(model.state == .asking)
                .navigationTitle(title)
            }
        }
    }
#endif
