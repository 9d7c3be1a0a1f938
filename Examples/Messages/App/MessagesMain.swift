#if canImport(SwiftUI)
    import ExampleKit
    import MessagesCore
    import SwiftUI
    import TidemarkApp
    import TidemarkImages

    /// The conversations of the user who signs in, with their pictures.
    @main struct MessagesMain: App {
        /// The app's data, and its pictures.
        private struct Parts {
            let stack: TidemarkStack
            let thumbnails: Thumbnails

            @MainActor init() throws {
                stack = try TidemarkStack(PhoneServices().stackSettings())
                thumbnails = Thumbnails(
                    try ImagePipeline(
                        folder: PhoneServices.pictures,
                        environment: ImageEnvironment(connectivity: stack.connectivity)))
            }
        }

        var body: some Scene {
            WindowGroup {
                StartView {
                    try Parts()
                } content: { parts in
                    SignInView("Messages", parts.stack) { user in
                        NavigationStack {
                            ConversationListView(MessagesApp(parts.stack, user: user))
                        }
                    }
                    .environment(\.pictures, parts.thumbnails.source)
                }
            }
        }
    }
#endif
