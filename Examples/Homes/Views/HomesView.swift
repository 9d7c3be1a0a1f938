#if canImport(SwiftUI)
    import AuthenticationServices
    import ExampleKit
    import HomesCore
    import SwiftUI
    import TidemarkApp

    /// Shows every screen of the app, from the first launch to the home. The core decides which
    /// one.
    struct HomesView: View {
        let app: HomesAfter
        @State private var screen: Screen?
        @State private var text = ""
        @State private var apple = AppleSignIn()

        var body: some View {
            NavigationStack {
                Form {
                    if let screen {
                        StateLine(state: screen.state)
                        ForEach(Array(screen.sections.enumerated()), id: \.offset) { _, section in
                            Section(section.title ?? "") {
                                ForEach(section.rows) { row in
                                    LabeledContent(row.title, value: row.trailing ?? "")
                                        .opacity(row.isPending ? 0.6 : 1)
                                }
                            }
                        }
                        ForEach(screen.controls) { control($0) }
                    }
                }
                .navigationTitle(screen?.title ?? "Homes")
            }
            .task { for await next in app.screens { screen = next } }
        }

        @ViewBuilder private func control(_ control: Control) -> some View {
            switch control.kind {
            case .button where control.id == "begin" && app.hasAppleSheet:
                SignInWithAppleButton(.continue) { request in
                    apple.prepare(request)
                } onCompletion: { result in
                    signIn(result)
                }
            case .button:
                Button(control.title) { tap(control.id) }.disabled(!control.isEnabled)
            case .field(let placeholder, let button):
                TextField(control.title, text: $text, prompt: Text(placeholder))
                Button(button) { tap(control.id) }.disabled(text.isEmpty)
            case .search(let placeholder):
                TextField(control.title, text: $text, prompt: Text(placeholder))
            }
        }

        private func signIn(_ result: Result<ASAuthorization, any Error>) {
            do throws(AppleSignInError) {
                let identity = try apple.identity(result)
                app.signIn(with: identity)
            } catch { app.signInFailed(error) }
        }

        private func tap(_ id: String) {
            let typed = text
            text = ""
            Task { await app.tap(id, typed) }
        }
    }
#endif
