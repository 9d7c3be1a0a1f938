#if canImport(SwiftUI) && canImport(TidemarkTesting) && DEBUG
    import MessagesCore
    import SwiftUI
    import TidemarkTesting

    /// Shows the app with one conversation, on a Firestore inside this process.
    private struct PreviewApp: View {
        @State private var app: MessagesApp?

        var body: some View {
            NavigationStack {
                if let app { ConversationListView(app) }
            }
            .task {
                guard let local = try? LocalFirestore.start(), let client = try? local.firestore()
                else { return }
                let app = MessagesApp(client, me: "ada")
                if let id = try? await app.begin("Grace", with: ["grace"]) {
                    let model = try? app.conversation(id)
                    await model?.send("Hello")
                    model?.close()
                }
                self.app = app
            }
        }
    }

    #Preview("Messages") { PreviewApp() }
#endif
