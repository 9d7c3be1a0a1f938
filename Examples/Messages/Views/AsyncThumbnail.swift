#if canImport(SwiftUI)
    import Foundation
    import MessagesCore
    import SwiftUI
    import TidemarkImages

    extension EnvironmentValues {
        /// Of the app: one for all rows.
        @Entry var thumbnails: Thumbnails?
    }

    /// The picture of a conversation, decoded at the size of its place.
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
            // Another one when the conversation has another picture.
            .task(id: conversation.picture) {
                let picture = await thumbnails?.picture(of: conversation)
                image = picture?.makeCGImage().map { Image(decorative: $0, scale: 2) }
            }
        }
    }
#endif
