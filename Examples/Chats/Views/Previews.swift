#if canImport(SwiftUI) && canImport(TidemarkTesting) && DEBUG
    import ChatsCore
    import SwiftUI
    import Tidemark
    import TidemarkTesting

    /// Shows the app with one chat, on a Firestore inside this process.
    private struct PreviewApp: View {
        @State private var app: ChatsApp?

        var body: some View {
            NavigationStack {
                if let app { ChatListView(app) }
            }
            .task {
                guard let local = try? LocalFirestore.start(), let client = try? local.firestore()
                else { return }
                _ = try? await client.document("chats/grace").enqueueSetData(
                    from: Chat(members: ["ada", "grace"], title: "Grace", lastText: "Hello"))
                app = ChatsApp(client, me: "ada")
            }
        }
    }

    #Preview("Chats") { PreviewApp() }
#endif
