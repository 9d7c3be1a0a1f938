#if canImport(SwiftUI)
    import ChatsCore
    import ExampleKit
    import Foundation
    import SwiftUI
    import Tidemark
    import TidemarkApp
    import TidemarkImages

    /// The chats of the user who signs in.
    @main struct ChatsMain: App {
        /// The app's data, and the pictures of people.
        private struct Parts {
            let stack: TidemarkStack
            let pipeline: ImagePipeline
            let people: ProfilePictures

            @MainActor init() throws {
                stack = try TidemarkStack(ChatsApp.settings(PhoneServices()))
                pipeline = try ImagePipeline(
                    folder: PhoneServices.pictures,
                    environment: ImageEnvironment(connectivity: stack.connectivity))
                people = ProfilePictures(pipeline) { [firestore = stack.firestore] id in
                    let person = try await firestore.collection("users").document(id).getDocument()
                    let address = person.get("picture") as? String
                    return address.flatMap(URL.init(string:)).map { ProfilePicture($0) }
                }
            }
        }

        var body: some Scene {
            WindowGroup {
                StartView {
                    try Parts()
                } content: { parts in
                    SignInView("Chats", parts.stack) { user in
                        NavigationStack {
                            ChatListView(ChatsApp(parts.stack.firestore, me: user.text))
                        }
                    }
                    .environment(\.pictures, parts.pipeline)
                    .environment(\.profilePictures, parts.people)
                }
            }
        }
    }
#endif
