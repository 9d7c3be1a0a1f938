#if canImport(SwiftUI)
    import ChatsCore
    import ExampleKit
    import Foundation
    import SwiftUI
    import Tidemark
    import TidemarkApp
    import TidemarkFiles
    import TidemarkImages

    /// The chats of the user who signs in.
    @main struct ChatsMain: App {
        @Environment(\.scenePhase) private var phase

        /// The app's data, the pictures of people, and the photos of messages.
        private struct Parts {
            let stack: TidemarkStack
            let pipeline: ImagePipeline
            let people: ProfilePictures
            let photos: AppPhotos

            @MainActor init() throws {
                let services = try PhoneServices()
                stack = try TidemarkStack(ChatsApp.settings(services))
                photos = AppPhotos(stack.firestore, services)
                var environment = photos.environment
                environment.connectivity = stack.connectivity
                pipeline = try ImagePipeline(
                    folder: PhoneServices.pictures, environment: environment)
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
                            ChatListView(
                                ChatsApp(
                                    parts.stack.firestore, me: user.text, photos: parts.photos))
                        }
                    }
                    .environment(\.pictures, parts.pipeline)
                    .environment(\.profilePictures, parts.people)
                    .task(id: phase) {
                        // Both have no effect on an outbox that already runs.
                        await parts.photos.outbox.start()
                        if phase == .active { await parts.photos.outbox.networkMayBeBack() }
                    }
                }
            }
        }
    }
#endif
