#if canImport(SwiftUI)
    import AuthenticationServices
    import ExampleKit
    import Foundation
    import HomesCore
    import SwiftUI
    import TidemarkApp
    import TidemarkFiles
    import TidemarkImages

    /// Shows every screen of the app, from the first launch to the home. The core decides which
    /// one.
    struct HomesView: View {
        let app: HomesAfter
        @State private var screen: Screen?
        @State private var text = ""
        @State private var apple = AppleSignIn()
        @State private var photo: FileUpload?

        var body: some View {
            NavigationStack {
                Form {
                    if let screen {
                        StateLine(state: screen.state)
                        ForEach(Array(screen.sections.enumerated()), id: \.offset) { _, section in
                            Section(section.title ?? "") {
                                ForEach(section.rows) { row in
                                    HomeRow(row: row, image: row.id == "you" ? app.picture : nil)
                                }
                            }
                        }
                        ForEach(screen.controls) { control($0) }
                    }
                }
                .navigationTitle(screen?.title ?? "Homes")
            }
            .task { for await next in app.screens { screen = next } }
            .task(id: photo) {
                guard let chosen = photo else { return }
                await app.choose(chosen)
                photo = nil
            }
        }

        @ViewBuilder private func control(_ control: Control) -> some View {
            switch control.kind {
            case .button where control.id == "begin" && app.hasAppleSheet:
                SignInWithAppleButton(.continue) { request in
                    apple.prepare(request)
                } onCompletion: { result in
                    signIn(result)
                }
            case .button where control.id == "photo": PhotoButton(photo: $photo)
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

    /// Shows a line of the home, and the picture of the user.
    struct HomeRow: View {
        let row: Row
        /// The picture; nil until it is loaded.
        let image: TidemarkImages.Picture?

        var body: some View {
            HStack {
                if let image = image?.makeCGImage() {
                    Image(decorative: image, scale: 3).resizable().frame(width: 48, height: 48)
                        .clipShape(.circle)
                }
                VStack(alignment: .leading) {
                    LabeledContent(row.title, value: row.trailing ?? "")
                    if let detail = row.detail { Text(detail).font(.caption) }
                }
            }
            .opacity(row.isPending ? 0.6 : 1)
        }
    }
#endif
