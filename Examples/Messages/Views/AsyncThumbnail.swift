#if canImport(SwiftUI)
    import Foundation
    import MessagesCore
    import SwiftUI
    import TidemarkImages

    extension EnvironmentValues {
        /// The app's pictures, shared by all rows.
        @Entry var thumbnails: Thumbnails?
    }

    /// Shows the picture of a conversation, decoded at the size at which it is shown.
    struct AsyncThumbnail: View {
        let conversation: Conversation
        @Environment(\.thumbnails) private var thumbnails
        @State private var image: Image?

        init(_ conversation: Conversation) { self.conversation = conversation }

        var body: some View {
            let side = CGFloat(Thumbnails.side)
            Group {
                if let image {
                    image.resizable()
                } else {
                    Circle().fill(.quaternary)
                }
            }
            .frame(width: side, height: side).clipShape(.circle)
            // The task runs again when the conversation gets another picture.
            .task(id: conversation.picture) {
                let picture = await thumbnails?.picture(of: conversation)
                image = picture?.makeCGImage().map { Image(decorative: $0, scale: 2) }
            }
        }
    }
#endif
